import { expect, test } from "vitest";
import { makeIntent, makeOrderToSolana, makePins } from "../test/solana-op-fixture.ts";
import { stableFloor } from "./stable-floor.ts";

const pins = makePins();

test("the floor is 97 % of the input in the decimals of the output, rounded up", () => {
	expect(stableFloor(pins, makeIntent({ amount: "10000000" }))).toBe(9_700_000n);
	expect(stableFloor(pins, makeIntent({ amount: "1" }))).toBe(1n);
	expect(stableFloor(pins, makeOrderToSolana().intent)).toBe(9_700_000n);
	const [one, two] = pins.chains;
	if (!one || !two) throw new Error("two chains are pinned");
	const assets = two.assets.map((asset) => ({ ...asset, decimals: 18 }));
	const wide = { ...pins, chains: [one, { ...two, assets }] };
	expect(stableFloor(wide, makeIntent({ amount: "10000000" }))).toBe(9_700_000_000_000_000_000n);
});

test("a top-up in USD lowers the floor by 97 % of its value, and there is no floor beside one in native units", () => {
	expect(stableFloor(pins, makeIntent({ topUpUsd: "0.50" }))).toBe(9_215_000n);
	expect(stableFloor(pins, makeIntent({ topUpUsd: "9.999999" }))).toBe(1n);
	expect(stableFloor(pins, makeIntent({ topUpUsd: "10" }))).toBeUndefined();
	expect(stableFloor(pins, makeIntent({ topUp: "1" }))).toBeUndefined();
});

test("a token is found in any hex case, and a token that the pins do not list has no floor", () => {
	const { outputToken } = makeIntent();
	expect(stableFloor(pins, makeIntent({ outputToken: outputToken.toLowerCase() }))).toBe(9_700_000n);
	const unknown = "0x00000000000000000000000000000000000000ff";
	expect(stableFloor(pins, makeIntent({ outputToken: unknown }))).toBeUndefined();
	expect(stableFloor(pins, makeIntent({ destinationChain: 1 }))).toBeUndefined();
});

test("a pair whose input is not a stable of its chain has no floor", () => {
	const sol = pins.solana?.assets.find(({ kind }) => kind === "volatile")?.address ?? "";
	expect(stableFloor(pins, makeIntent({ inputToken: sol }))).toBeUndefined();
});
