import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import { vaultPath } from "./vault-path.ts";

const settlementToken = `0x${"11".repeat(20)}` as const;
const wrappedNative = `0x${"22".repeat(20)}` as const;
const asset = `0x${"33".repeat(20)}` as const;
const chain = { settlementToken, wrappedNative };

test("a path is encoded as token addresses with three-byte fees between them", () => {
	const [s, w, a] = [settlementToken, wrappedNative, asset].map((address) => address.slice(2));
	expect(vaultPath(chain, { asset, fees: [3000] })).toBe(`0x${s}000bb8${a}`);
	expect(vaultPath(chain, { asset, fees: [500, 3000] })).toBe(`0x${s}0001f4${w}000bb8${a}`);
	expect(vaultPath(chain, { asset: zeroAddress, fees: [500] })).toBe(`0x${s}0001f4${w}`);
});

test("a path without a pool, or with three pools, is refused", () => {
	expect(() => vaultPath(chain, { asset, fees: [] })).toThrow(RangeError);
	expect(() => vaultPath(chain, { asset, fees: [100, 500, 3000] })).toThrow(RangeError);
});
