import { toWord } from "@geoswap/protocol";
import { type Hex, zeroAddress } from "viem";
import { expect, test } from "vitest";
import { plainOrder } from "../../test/plain-order.ts";
import type { EvmNode } from "../read/evm-node.ts";
import { createProofs } from "./create-proofs.ts";

const usdc: Hex = "0x00000000000000000000000000000000000000a1";

test("a fill with a top-up is proven by a deposit that is worth both with the margin, and by no smaller one", async () => {
	const base = plainOrder({ swapKey: toWord(usdc) });
	const order = { ...base, inputToken: toWord(usdc), inputAmount: 100n };
	const opened = { client: { readContract: async () => 1 } } as unknown as EvmNode;
	// A unit of the settlement token is worth one, a unit of the native token two.
	const worths = new Map([
		[toWord(usdc), 1n],
		[toWord(zeroAddress), 2n],
	]);
	const prove = createProofs({
		chains: new Map([[Number(order.originChainId), opened]]),
		solana: undefined,
		worthE18: async ({ token, amount }) => {
			const worth = worths.get(token);
			return worth && worth * amount;
		},
		marginBps: 500,
		nowMs: () => 0,
	});
	const proofOf = async (amount: bigint, topUp: bigint) => {
		const [delivery, native] = [
			{ token: usdc, amount },
			{ token: zeroAddress, amount: topUp },
		];
		const meter = { meter: "outflow", item: "order", order };
		const proofs = await Promise.all([
			prove({ ...meter, ...delivery, beside: native }),
			prove({ ...meter, ...native, beside: delivery }),
		]);
		return proofs.map(({ isProven }) => isProven);
	};
	expect(await proofOf(95n, 5n)).toEqual([true, true]);
	expect(await proofOf(96n, 5n)).toEqual([false, false]);
	expect(await proofOf(1n, 53n)).toEqual([false, false]);
	worths.delete(toWord(zeroAddress));
	expect(await proofOf(1n, 1n)).toEqual([false, false]);
});
