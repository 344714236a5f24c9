import { fromSwapKey, newSwapUuid, orderId, spareSwapUuid, toSwapKey } from "@geoswap/protocol";
import { pad } from "viem";
import { expect, test } from "vitest";
import { anyOrder } from "../../../../../packages/protocol/vectors/read-vectors.ts";
import type { AuditedSwap } from "../read/read-books.ts";
import { checkOnce } from "./check-once.ts";

const uuid = newSwapUuid({ nowMs: 1_800_000_000_000, random: new Uint8Array(10).fill(7) });
const other = newSwapUuid({ nowMs: 1_800_000_000_000, random: new Uint8Array(10).fill(8) });
const order = { ...anyOrder(), swapKey: toSwapKey(uuid) };

function found(swap: Pick<AuditedSwap, "id" | "order">) {
	const swaps = [{ ...swap, orderId: orderId(swap.order) } as AuditedSwap];
	const books = { doubled: [], nonces: { wrong: [] } } as unknown as Parameters<typeof checkOnce>[1];
	return checkOnce(swaps, books).map(({ invariant }) => invariant);
}

test("a swap whose id is neither the one in its order nor the one derived from the order is found, unless that id is taken", () => {
	expect(found({ id: fromSwapKey(order.swapKey), order })).toEqual([]);
	expect(found({ id: spareSwapUuid({ swapKey: order.swapKey, orderId: orderId(order) }), order })).toEqual(
		[],
	);
	expect(found({ id: other, order })).toEqual(["I11"]);
	expect(found({ id: uuid, order: { ...order, swapKey: pad("0x01", { dir: "right" }) } })).toEqual(["I11"]);
});
