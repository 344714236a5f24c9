import { mulDivDown } from "@geoswap/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	one,
	outward,
	refusal,
	type SolanaDeskScene,
	solana,
	startSolanaDeskScene,
	two,
	type Way,
} from "../../test/desk/solana-desk-scene.ts";

let scene: SolanaDeskScene;
beforeAll(async () => {
	scene = await startSolanaDeskScene();
});
afterAll(() => scene.stop());

const symbolsOn: Record<number, string[]> = {
	[one]: ["ETH", "WETH", "USDC", "USDT", "ORB"],
	[two]: ["ETH", "WETH", "USDC", "USDT", "ORB"],
	[solana]: ["USDC", "USDT", "SOL"],
};
const ends = Object.entries(symbolsOn).flatMap(([chainId, symbols]) =>
	symbols.map((symbol): [number, string] => [Number(chainId), symbol]),
);
const runs = process.env.GEOSWAP_FULL ? 10_000 : 1_000;
/** How far each volatile price moves between quote and submit, at most. */
const movedBps = 20;

test("the recipient of an exact output never gets less, for the least input, over generated pairs and sizes", () => {
	const { desk, worth, request } = scene;
	let overshoot = 0;
	let [refused, slipped] = [0, 0];
	const moved = [-1, 0, 1].flatMap((a) =>
		[-1, 0, 1].map((b) =>
			scene.deskWith(scene.movedPriceCache((symbol) => movedBps * (symbol === "ORB" ? a : b))),
		),
	);
	const swaps = fc.record({
		from: fc.constantFrom(...ends),
		to: fc.constantFrom(...ends),
		cents: fc.integer({ min: 1_000, max: 2_000_000 }),
		slippageBps: fc.integer({ min: 1, max: 500 }),
		move: fc.nat(moved.length - 1),
	});
	fc.assert(
		fc.property(swaps, ({ from, to, cents, slippageBps, move }) => {
			fc.pre(from[0] !== to[0] || from[1] !== to[1]);
			const outputAmount = worth(to, cents) / 100n;
			const wanted = { from, to, slippageBps, amount: undefined, outputAmount };
			const quote = desk.quote(request(wanted));
			const { amount, minOutput, order } = quote;
			expect(order).toMatchObject({ inputAmount: amount, minOutput });
			expect(minOutput).toBeGreaterThanOrEqual(outputAmount);
			expect(minOutput).toBe(mulDivDown(quote.output, BigInt(10_000 - slippageBps), 10_000n));
			// The same input is quoted the same, and a unit less does not deliver the output.
			expect(desk.quote(request({ from, to, slippageBps, amount })).minOutput).toBe(minOutput);
			expect(desk.quote(request({ from, to, slippageBps, amount: amount - 1n })).minOutput).toBeLessThan(
				outputAmount,
			);
			overshoot = Math.max(overshoot, Number(minOutput - outputAmount) / Number(outputAmount));
			const repriced = moved[move]?.reprice(quote, { sell: 0n, buy: 0n });
			if (!repriced) refused += 1;
			else expect(repriced.output).toBeGreaterThanOrEqual(outputAmount);
			if (repriced && repriced.output < quote.output) slipped += 1;
		}),
		{ numRuns: runs },
	);
	console.log(
		`${runs} quotes; the largest overshoot is ${overshoot.toExponential(1)} of the output; after prices moved by up to ${movedBps} bps, ${refused} submits are refused and ${slipped} deliver less than quoted`,
	);
});

test.each<Way>([
	{ from: [one, "USDC"], to: [two, "USDC"] },
	{ from: [one, "USDT"], to: [two, "USDT"] },
	outward,
])("without slippage, $from to $to delivers exactly what is asked for", ({ from, to }) => {
	const { desk, request } = scene;
	const quote = desk.quote(
		request({ from, to, slippageBps: 0, amount: undefined, outputAmount: 25_000_000n }),
	);
	expect([quote.output, quote.minOutput]).toEqual([25_000_000n, 25_000_000n]);
	expect(desk.reprice(quote, { sell: 0n, buy: 0n })?.output).toBe(25_000_000n);
});

test("a slippage of 0 is refused between tokens with different symbols, and for an exact input", () => {
	const { desk, request } = scene;
	const [same, other]: [Way, Way] = [
		{ from: [one, "USDC"], to: [two, "USDC"] },
		{ from: [one, "USDC"], to: [two, "USDT"] },
	];
	const issues = [{ path: "slippageBps", message: expect.stringContaining("must be at least 1") }];
	const exact = { slippageBps: 0, amount: undefined, outputAmount: 25_000_000n };
	expect(refusal(() => desk.quote(request({ ...other, ...exact }))).details).toEqual({ issues });
	expect(refusal(() => desk.quote(request({ ...same, slippageBps: 0 }))).details).toEqual({ issues });
});

test.each<Way>([
	{ from: [one, "USDC"], to: [two, "USDC"] },
	{ from: [one, "ETH"], to: [two, "ORB"] },
	{ from: [solana, "USDC"], to: [one, "ETH"] },
	{ from: [one, "ORB"], to: [solana, "SOL"] },
])("an output that is too small or too large is refused with one that is accepted: $from to $to", (way) => {
	const { desk, request } = scene;
	const quote = (outputAmount: bigint) => desk.quote(request({ ...way, amount: undefined, outputAmount }));
	const small = refusal(() => quote(1n));
	expect(small.code).toBe("NEEDS_LARGER_SIZE");
	const minimum = BigInt((small.details as { minimumAmount: string }).minimumAmount);
	expect(quote(minimum).minOutput).toBeGreaterThanOrEqual(minimum);
	const large = refusal(() => quote(2n ** 255n));
	expect(large.details).toMatchObject({ reason: "capacity" });
	const maximum = BigInt((large.details as { maximumAmount: string }).maximumAmount);
	expect(quote(maximum).minOutput).toBeGreaterThanOrEqual(maximum);
});
