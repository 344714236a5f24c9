import { toHex } from "viem";
import { afterEach, expect, test } from "vitest";
import { solanaOrderScene } from "../../../../test/order/solana-order-scene.ts";
import { type StubSolanaRpc, startStubSolanaRpc } from "../../../../test/solana/stub-solana-rpc.ts";
import { connectSolana } from "../connect-solana.ts";
import { readStatuses } from "./read-statuses.ts";

let stub: StubSolanaRpc;
afterEach(() => stub?.stop());

const hashes = (count: number) => Array.from({ length: count }, (_, i) => toHex(i + 1, { size: 64 }));

test("a transaction counts only once it is confirmed", async () => {
	const status = (confirmationStatus: string | null, err: unknown = null) => ({
		slot: 7,
		confirmations: 1,
		err,
		confirmationStatus,
		status: { Ok: null },
	});
	const chain = await connected((signatures) => [
		null,
		status("processed"),
		status("confirmed"),
		status("finalized"),
		status("finalized", { InstructionError: [0, { Custom: 1 }] }),
		...signatures.slice(5).map(() => status(null)),
	]);
	expect(await readStatuses(chain, hashes(6))).toEqual([
		undefined,
		undefined,
		{ slot: 7, isFinal: false, isFailed: false },
		{ slot: 7, isFinal: true, isFailed: false },
		{ slot: 7, isFinal: true, isFailed: true },
		undefined,
	]);
	expect(stub.calls[0]?.params[1]).toMatchObject({ searchTransactionHistory: true });
});

test("any number of transactions can be read, in batches of the size that a node takes", async () => {
	const chain = await connected((signatures) => signatures.map(() => null));
	expect(await readStatuses(chain, hashes(600))).toHaveLength(600);
	expect(stub.calls.map(({ params }) => (params[0] as unknown[]).length)).toEqual([256, 256, 88]);
	expect(await readStatuses(chain, [])).toEqual([]);
});

test("a response for signatures other than the requested ones is an error", async () => {
	const chain = await connected(() => [null]);
	await expect(readStatuses(chain, hashes(2))).rejects.toThrow("other signatures");
});

async function connected(answer: (signatures: unknown[]) => unknown[]) {
	stub = await startStubSolanaRpc(({ params }) => ({
		result: { context: { slot: 9 }, value: answer(params[0] as unknown[]) },
	}));
	const { deployment } = await solanaOrderScene();
	return connectSolana({ rpcUrl: stub.rpcUrl, deployment });
}
