import { portSource } from "@geoswap/devnet";
import { getQuote } from "@geoswap/sdk";
import { getAddress, parseUnits } from "viem";
import { expect, test } from "vitest";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { apiBeside } from "../environment/api-beside.ts";
import { expectBooksAgree } from "../expect/expect-books-agree.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

/** The address of e2e/denied.txt. */
const denied = getAddress("0xde41ed0000000000000000000000000000000001");
const amount = parseUnits("100", 6);

test("a recipient that the operator denies gets no quote, and a swap that is submitted before that is refunded in full and never paid [D-quote-response-29]", async ({
	onTestFinished,
}) => {
	const environment = sharedEnvironment();
	const { origin, destination, deployment: pins } = environment;
	const client = await environment.newClient();
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
		account,
		recipient: denied,
	});
	await expect(getQuote({ ...client, fetch }, intent)).rejects.toMatchObject({
		code: "NO_ROUTE",
		details: { reason: "denied", side: "destination" },
	});

	// An API process that does not have the list yet. The workers have it.
	const api = apiBeside(environment, {
		name: "api-without-deny-list",
		port: await portSource()(),
		configure: (config) => {
			delete config.denyList;
		},
	});
	onTestFinished(() => api.stop());
	await api.start();
	const { swap } = await doSwap({ client: { ...client, baseUrl: api.baseUrl }, pins, account }, intent);
	expect(swap).toMatchObject({ status: "refunded", failure: { code: "DENIED" } });
	expect(swap.deliveryTxHash).toBeUndefined();
	expect(await tokenBalance(origin, assetAddress(origin, "USDC"), account.address)).toBe(amount);
	expect(await tokenBalance(destination, assetAddress(destination, "USDC"), denied)).toBe(0n);
	await expectBooksAgree(expect, environment);
});
