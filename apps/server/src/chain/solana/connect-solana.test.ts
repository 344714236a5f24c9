import { SwapError } from "@geoswap/protocol";
import { afterEach, expect, test } from "vitest";
import { solanaOrderScene } from "../../../test/order/solana-order-scene.ts";
import {
	type StubAnswer,
	type StubSolanaRpc,
	startStubSolanaRpc,
} from "../../../test/solana/stub-solana-rpc.ts";
import type { OnChainCall } from "../request-chain.ts";
import { connectSolana } from "./connect-solana.ts";
import { readBlockhash } from "./read/read-slots.ts";
import { sendRaw } from "./send/send-raw.ts";

let stub: StubSolanaRpc;
afterEach(() => stub?.stop());

const blockhash = "9iZbn1sFvmYzbEs9LvDqg3bJTnJyMkHNRfJ1vuDZh8Fe";
const fine: StubAnswer = {
	result: { context: { slot: 1 }, value: { blockhash, lastValidBlockHeight: 2 ** 52 } },
};

test("one broken connection is retried, and two in a row make the chain unavailable", async () => {
	const chain = await connected((count) => (count === 1 ? "hang up" : fine));
	expect(await readBlockhash(chain)).toEqual({ blockhash, lastValidBlockHeight: 2n ** 52n });
	expect(stub.calls.length).toBe(2);
	await stub.stop();
	await expectNoAnswer(await connected(() => "hang up"));
	expect(stub.calls.length).toBe(2);
});

test("a chain that answers with an HTTP error, or not at all, is unavailable", async () => {
	for (const answer of [{ status: 500 }, { status: 429 }] as const) {
		await expectNoAnswer(await connected(() => answer));
		await stub.stop();
	}
	await expectNoAnswer(await connected(() => "say nothing", { timeoutMs: 100 }));
});

test("an error of the node makes the chain unavailable, without a retry", async () => {
	await expectNoAnswer(await connected(() => ({ error: { code: -32005, message: "node is behind" } })));
	expect(stub.calls.length).toBe(1);
});

test("a transaction is sent unchanged, without preflight or retries", async () => {
	const chain = await connected(() => ({ result: "any" }));
	await sendRaw(chain, "0x0102ff");
	expect(stub.calls).toMatchObject([
		{
			method: "sendTransaction",
			params: ["AQL/", { encoding: "base64", skipPreflight: true, maxRetries: 0 }],
		},
	]);
});

test("the error of a failed send does not contain the endpoint's address", async () => {
	const answers: StubAnswer[] = [
		"hang up",
		{ status: 500 },
		{ error: { code: -32602, message: "too large" } },
	];
	for (const answer of answers) {
		const chain = await connected(() => answer);
		const error = await sendRaw(chain, "0x0102ff").catch((problem: unknown) => problem);
		expect(error).toBeInstanceOf(Error);
		expect(String(error)).not.toContain("127.0.0.1");
		expect(String(error)).not.toContain("secret-path");
		expect((error as Error).cause).toBeUndefined();
		await stub.stop();
	}
});

test("each call is reported once, with its outcome", async () => {
	const calls: string[] = [];
	const onCall: OnChainCall = ({ method, outcome }) => calls.push(`${method} ${outcome}`);
	await readBlockhash(await connected((count) => (count === 1 ? "hang up" : fine), { onCall }));
	await stub.stop();
	await expectNoAnswer(await connected(() => "hang up", { onCall }));
	await stub.stop();
	const busy = await connected(() => ({ error: { code: -32005, message: "node is behind" } }), { onCall });
	await expectNoAnswer(busy);
	expect(calls).toEqual(["ok", "failed", "refused"].map((outcome) => `getLatestBlockhash ${outcome}`));
});

async function connected(
	answer: (count: number) => StubAnswer,
	options: { timeoutMs?: number; onCall?: OnChainCall } = {},
) {
	stub = await startStubSolanaRpc((_, count) => answer(count));
	const { deployment } = await solanaOrderScene();
	return connectSolana({ rpcUrl: stub.rpcUrl, deployment, ...options });
}

async function expectNoAnswer(chain: ReturnType<typeof connectSolana>): Promise<void> {
	const error = await readBlockhash(chain).catch((problem: unknown) => problem);
	expect(error).toBeInstanceOf(SwapError);
	expect(error).toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
		details: { upstream: `chain ${chain.chainId}` },
		retryable: true,
	});
}
