import { expect, test } from "vitest";
import { makeIntent, makeOrderToSolana, makePins } from "../test/solana-op-fixture.ts";
import { stableFloor } from "./stable-floor.ts";

const pins = makePins();

test("it is 97 % of the input, in the decimals of the output, and rounds up", () => {
	expect(stableFloor(pins, makeIntent({ amount: "10000000" }))).toBe(9_700_000n);
	expect(stableFloor(pins, makeIntent({ amount: "1" }))).toBe(1n);
	expect(stableFloor(pins, makeOrderToSolana().intent)).toBe(9_700_000n);
	const [one, two] = pins.chains;
	if (!one || !two) throw new Error("two chains are pinned");
	const assets = two.assets.map((asset) => ({ ...asset, decimals: 18 }));
	const wide = { ...pins, chains: [one, { ...two, assets }] };
	expect(stableFloor(wide, makeIntent({ amount: "10000000" }))).toBe(9_700_000_000_000_000_000n);
});

test("a token is found however its hex is written, and only where the pins list it", () => {
	const { outputToken } = makeIntent();
	expect(stableFloor(pins, makeIntent({ outputToken: outputToken.toLowerCase() }))).toBe(9_700_000n);
	const unknown = "0x00000000000000000000000000000000000000ff";
	expect(stableFloor(pins, makeIntent({ outputToken: unknown }))).toBeUndefined();
	expect(stableFloor(pins, makeIntent({ destinationChain: 1 }))).toBeUndefined();
});

test("a pair with a token that is no stable has none", () => {
	const sol = pins.solana?.assets.find(({ kind }) => kind === "volatile")?.address ?? "";
	expect(stableFloor(pins, makeIntent({ inputToken: sol }))).toBeUndefined();
});
