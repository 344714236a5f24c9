import { afterEach, expect, test } from "vitest";
import { solanaOrderScene } from "../../../../test/order/solana-order-scene.ts";
import { type StubSolanaRpc, startStubSolanaRpc } from "../../../../test/solana/stub-solana-rpc.ts";
import { connectSolana } from "../connect-solana.ts";
import { readSlots } from "./read-slots.ts";

let stub: StubSolanaRpc;
afterEach(() => stub?.stop());

test("the final slot is read before the confirmed one", async () => {
	const chain = await connected({ finalized: 90, confirmed: 120 });
	expect(await readSlots(chain)).toEqual({
		finalized: { slot: 90, height: 80, timestamp: 1_090 },
		confirmed: { slot: 120, height: 110, timestamp: 1_120 },
	});
	expect(stub.calls.map(({ method }) => method)).toEqual([
		"getEpochInfo",
		"getBlockTime",
		"getEpochInfo",
		"getBlockTime",
	]);
});

test("a lagging node never puts the confirmed slot behind the final one", async () => {
	const { finalized, confirmed } = await readSlots(await connected({ finalized: 90, confirmed: 70 }));
	expect(confirmed).toEqual(finalized);
});

test("a slot without a time is an error", async () => {
	const chain = await connected({ finalized: 90, confirmed: 120, time: () => null });
	await expect(readSlots(chain)).rejects.toThrow("no time");
});

async function connected({
	time = (slot: number) => 1_000 + slot,
	...slots
}: {
	finalized: number;
	confirmed: number;
	time?: (slot: number) => number | null;
}) {
	stub = await startStubSolanaRpc(({ method, params }) => {
		if (method === "getBlockTime") return { result: time(params[0] as number) };
		// A node's default commitment is `finalized`.
		const { commitment = "finalized" } = (params[0] ?? {}) as { commitment?: "finalized" | "confirmed" };
		const absoluteSlot = slots[commitment];
		return {
			result: { absoluteSlot, blockHeight: absoluteSlot - 10, epoch: 0, slotIndex: 0, slotsInEpoch: 1 },
		};
	});
	const { deployment } = await solanaOrderScene();
	return connectSolana({ rpcUrl: stub.rpcUrl, deployment });
}
