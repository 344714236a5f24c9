import fc from "fast-check";
import { toHex } from "viem";
import { expect, test } from "vitest";
import { markerAddress, markerSeed } from "./marker-address.ts";
import { fromSolanaWord } from "./solana-address.ts";

const [vault, escrow] = [1, 2].map((n) => fromSolanaWord(toHex(n, { size: 32 })));
const orderIds = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes));

test("the seed of a marker has 32 characters for every order id", () => {
	fc.assert(fc.property(orderIds, (id) => /^[A-Za-z0-9_-]{32}$/.test(markerSeed(id))));
	expect(() => markerSeed("0x00")).toThrow(RangeError);
});

test("each order has its own marker address for the vault and for the escrow", async () => {
	if (!vault || !escrow) throw new Error("there are two keys");
	await fc.assert(
		fc.asyncProperty(orderIds, orderIds, async (one, two) => {
			const addresses = await Promise.all(
				[one, two].flatMap((orderId) => [vault, escrow].map((base) => markerAddress({ base, orderId }))),
			);
			expect(new Set(addresses).size).toBe(one === two ? 2 : 4);
		}),
		{ numRuns: 30 },
	);
});
