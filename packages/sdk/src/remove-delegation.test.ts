import type { DelegationResponse } from "@geoswap/protocol";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { createClient } from "./create-client.ts";
import { removeDelegation } from "./remove-delegation.ts";

const chainId = 8453;
const account = privateKeyToAccount(generatePrivateKey());

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.useRealTimers();
});

test("if the chain does not execute a removal in time, the error names the service's transaction as the cause and not the wallet's", async () => {
	const error = await failedRemoval({ noncesOfWallet: [4, 4] });
	expect(error).toMatchObject({ code: "NOT_REMOVED", next: "retry", retryable: true });
	expect(error.message).toContain("The service's transaction was not executed within 90 seconds");
	expect(error.message).not.toContain("of its own");
});

test("a removal whose nonce the wallet has spent names the wallet's own transaction as the cause", async () => {
	const error = await failedRemoval({ noncesOfWallet: [4, 5] });
	expect(error).toMatchObject({ code: "NOT_REMOVED", next: "retry" });
	expect(error.message).toContain("It has sent another transaction meanwhile");
});

/** Requests a removal that the service accepts and never executes. The wallet's nonce changes after the request. */
async function failedRemoval({ noncesOfWallet: [before, after] }: { noncesOfWallet: [number, number] }) {
	let accountNonce = before;
	const answer = (): DelegationResponse => ({
		chainId,
		walletAddress: account.address,
		delegated: true,
		originReady: true,
		accountNonce,
		mandateEpoch: 2,
		mandateEscrow: account.address,
	});
	const fetch: typeof globalThis.fetch = async (_, options) => {
		if (options?.method === "POST") {
			accountNonce = after;
			return Response.json({ chainId, walletAddress: account.address, removal: "queued" });
		}
		return Response.json(answer());
	};
	const client = createClient({ baseUrl: "http://service.invalid", apiKey: "key", fetch });
	const failing = errorOf(removeDelegation(client, { chainId, account }));
	await vi.advanceTimersByTimeAsync(100_000);
	return failing;
}
