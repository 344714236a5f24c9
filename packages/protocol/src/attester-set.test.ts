import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import { readVectors } from "../vectors/read-vectors.ts";
import { attesterSetHash } from "./attester-set.ts";

const first = "0x1000000000000000000000000000000000000001";
const second = "0x2000000000000000000000000000000000000002";

test("the hash of a set is the one in the vectors", () => {
	const { attesterSet } = readVectors();
	expect(attesterSetHash(attesterSet)).toBe(attesterSet.hash);
});

test.each([
	["needs nobody", 0, [first]],
	["needs more than there are", 2, [first]],
	["is not ascending", 1, [second, first]],
	["counts one signer twice", 2, [first, first]],
	["has a signer that signs nothing", 1, [zeroAddress]],
] as const)("a set is refused that %s", (_, threshold, attesters) => {
	expect(() => attesterSetHash({ threshold, attesters })).toThrow(RangeError);
});
