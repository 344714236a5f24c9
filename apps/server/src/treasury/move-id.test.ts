import fc from "fast-check";
import { expect, test } from "vitest";
import { type MoveKey, moveId, moveKeyText } from "./move-id.ts";

const key: MoveKey = {
	kind: "bridge",
	chainId: 1,
	token: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
	toChainId: 8453,
	address: "0x00000000000000000000000000000000000000b1",
};

test("the id of a move follows from its key and number, and from nothing else", () => {
	expect(moveId(key, 0)).toMatchInlineSnapshot(
		`"0xe6363e2db6e5db7b6e2a8e8eb37572f7d0faa72b3afecd352bb84c6abb693324"`,
	);
	expect(moveId({ ...key, token: key.token.toLowerCase() as typeof key.token }, 0)).toBe(moveId(key, 0));
});

test("moves with any other key or number have other ids", () => {
	const address = fc
		.uint8Array({ minLength: 20, maxLength: 20 })
		.map((bytes) => `0x${Buffer.from(bytes).toString("hex")}` as const);
	const anyKey = fc.record({
		kind: fc.constantFrom("trade" as const, "send" as const, "bridge" as const, "manual" as const),
		chainId: fc.integer({ min: 1, max: 100 }),
		token: address,
		toChainId: fc.integer({ min: 1, max: 100 }),
		address,
	});
	const number = fc.integer({ min: 0, max: 1_000 });
	fc.assert(
		fc.property(anyKey, number, anyKey, number, (one, n, other, m) => {
			const isSame = moveKeyText(one) === moveKeyText(other) && n === m;
			expect(moveId(one, n) === moveId(other, m)).toBe(isSame);
			expect(moveId(one, n)).not.toBe(moveId(one, n + 1));
		}),
	);
});
