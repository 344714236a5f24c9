import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import { readVectors } from "../vectors/read-vectors.ts";
import { attesterSetHash } from "./attester-set.ts";

const first = "0x1000000000000000000000000000000000000001";
const second = "0x2000000000000000000000000000000000000002";

test("the hash of an attester set matches the test vector", () => {
	const { attesterSet } = readVectors();
	expect(attesterSetHash(attesterSet)).toBe(attesterSet.hash);
});

test.each([
	["has a threshold of zero", 0, [first]],
	["has a threshold above its size", 2, [first]],
	["is not ascending", 1, [second, first]],
	["lists an attester twice", 2, [first, first]],
	["lists the zero address", 1, [zeroAddress]],
] as const)("an attester set that %s is refused", (_, threshold, attesters) => {
	expect(() => attesterSetHash({ threshold, attesters })).toThrow(RangeError);
});
