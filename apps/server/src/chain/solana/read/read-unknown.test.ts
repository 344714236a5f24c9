import { toHex } from "viem";
import { afterEach, expect, test } from "vitest";
import { solanaOrderScene } from "../../../../test/order/solana-order-scene.ts";
import {
	type StubAnswer,
	type StubSolanaRpc,
	startStubSolanaRpc,
} from "../../../../test/solana/stub-solana-rpc.ts";
import { connectSolana } from "../connect-solana.ts";
import { readUnknown } from "./read-unknown.ts";

let stub: StubSolanaRpc;
afterEach(() => stub?.stop());

const hash = toHex(1, { size: 64 });
const asOf = { slot: 2_000, height: 1_000 };
/** It could land from height 700 on, so in slot 1,400 at the earliest. */
const sought = { hash, lastValidHeight: 850 };
const processed = { slot: 1_999, confirmations: 0, err: null, confirmationStatus: "processed", status: {} };

test.each([
	{ node: "that is at the slot and has all blocks", isUnknown: true },
	{ node: "whose history begins where it could land first", first: 1_400, isUnknown: true },
	{ node: "that is behind the slot", slot: 1_999, isUnknown: false },
	{ node: "that has it, not yet confirmed", status: processed, isUnknown: false },
	{ node: "that has forgotten a block it could be in", first: 1_401, isUnknown: false },
	{ node: "that has forgotten the block it was in", first: 1_901, at: 1_900, isUnknown: false },
	{ node: "that has the block it was in", first: 1_900, at: 1_900, isUnknown: true },
])(
	"for a node $node, a transaction is unknown: $isUnknown",
	async ({ slot = 2_000, status = null, first = 0, at, isUnknown }) => {
		const chain = await connected({
			getSignatureStatuses: { result: { context: { slot }, value: [status] } },
			getFirstAvailableBlock: { result: first },
			getTransaction: { result: null },
		});
		const unknown = await readUnknown(chain, [at === undefined ? sought : { ...sought, slot: at }], asOf);
		expect(unknown.has(hash)).toBe(isUnknown);
	},
);

test("a node that fails one of the requests gives no verdict", async () => {
	const chain = await connected({
		getSignatureStatuses: { result: { context: { slot: 2_000 }, value: [null] } },
		getFirstAvailableBlock: { result: 0 },
		getTransaction: {
			error: { code: -32_011, message: "Transaction history is not available from this node" },
		},
	});
	await expect(readUnknown(chain, [sought], asOf)).rejects.toThrow();
});

test("nothing is requested for an empty list", async () => {
	expect(await readUnknown(await connected({}), [], asOf)).toEqual(new Set());
	expect(stub.calls).toEqual([]);
});

async function connected(answers: Record<string, StubAnswer>) {
	stub = await startStubSolanaRpc(({ method }) => answers[method] ?? { status: 500 });
	const { deployment } = await solanaOrderScene();
	return connectSolana({ rpcUrl: stub.rpcUrl, deployment });
}
