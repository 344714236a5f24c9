import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "../seeded-random.ts";
import { exchangeOption } from "./exchange-option.ts";
import { createMovingDesk, market } from "./moving-desk.ts";
import { pairs, simulateChooser } from "./simulate-chooser.ts";

const quickSeconds = 12;
/** Seconds of a block for the deposit and two on top of it. */
const usualSeconds = 36;
const finalSeconds = 20 * 60;
const paths = process.env.GEOSWAP_FULL ? 400 : 25;

function run(
	pair: (typeof pairs)[number],
	{ volatilityPercent, waitSeconds }: { volatilityPercent: number; waitSeconds: number },
) {
	const random = seededRandom(`${pair.from}/${pair.to}/${volatilityPercent}/${waitSeconds}`);
	return simulateChooser({ pair, volatilityPercent, waitSeconds, paths, random });
}

test("an at-the-money option to exchange is worth its deviation divided by the square root of two pi", () => {
	for (const deviation of [0.0001, 0.001, 0.01]) {
		const value = exchangeOption({ delivered: 1, input: 1, deviation });
		expect(value / (deviation / Math.sqrt(2 * Math.PI))).toBeCloseTo(1, 4);
	}
	// Four deviations away, it is seven millionths of one.
	expect(exchangeOption({ delivered: 1 - 0.004, input: 1, deviation: 0.001 }) / 0.001).toBeCloseTo(7.1e-6, 6);
});

test.for(pairs)("a caller who always makes the best choice gains nothing from $from to $to", (pair) => {
	for (const volatilityPercent of [20, 60, 200]) {
		for (const waitSeconds of [quickSeconds, finalSeconds]) {
			const { gainBps } = run(pair, { volatilityPercent, waitSeconds });
			expect(gainBps).toBeLessThan(0.001);
		}
	}
});

test("the same caller gains if the delivery is fixed at submit and paid whatever prices do", () => {
	const [fromInventory] = pairs;
	if (!fromInventory) throw new Error("there are pairs");
	const { gainBeforeBps } = run(fromInventory, { volatilityPercent: 200, waitSeconds: finalSeconds });
	expect(gainBeforeBps).toBeGreaterThan(10);
});

test.for(pairs)(
	"at the usual depth and 60 % volatility a swap from $from to $to costs less than 10 bps more",
	(pair) => {
		const result = run(pair, { volatilityPercent: 60, waitSeconds: usualSeconds });
		expect(result.addedInQuoteBps + result.medianLoweredBps).toBeLessThan(10);
		if (pair.from === "USDC" && pair.to === "USDT") {
			expect(result).toMatchObject({ addedInQuoteBps: 0, meanLoweredBps: 0 });
		}
	},
);

test("at any later price, a fill pays at most the quoted output and less than the input is worth", () => {
	const { desk, chains, move } = createMovingDesk({});
	const { east, west } = chains;
	const addressOf = (symbol: string) => {
		const asset = east.assets.find((candidate) => candidate.symbol === symbol);
		if (!asset) throw new Error(`no ${symbol}`);
		return asset.address;
	};
	const quote = desk.quote({
		originChain: east.chainId,
		destinationChain: west.chainId,
		inputToken: addressOf("ETH"),
		outputToken: west.settlementToken,
		amount: 10n ** 18n,
		walletAddress: "0x1111111111111111111111111111111111111111",
		recipient: undefined,
		slippageBps: 300,
	});
	fc.assert(
		fc.property(fc.double({ min: 0.5, max: 2, noNaN: true }), (times) => {
			const usd = market.ETH * times;
			move({ ...market, ETH: usd });
			const now = desk.deliveryNow(quote);
			if (now === "no-price") throw new Error("there is a price");
			if (now === "below-minimum") return usd < market.ETH * 0.98;
			if (now.kind !== "inventory") throw new Error("the settlement token is paid from inventory");
			return now.amount <= quote.output && now.amount >= quote.minOutput && Number(now.amount) / 1e6 < usd;
		}),
		{ numRuns: 50 },
	);
});
