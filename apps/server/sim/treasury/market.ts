import type { Rung } from "../../src/chain/evm/read/read-block-prices.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { type ChainTerms, daySeconds, weekSeconds } from "./world-terms.ts";

type AssetName = "ETH" | "USDC";

/** Prices and gas of a week, all drawn at the start, so that worlds of one seed that act differently have the same. */
export type Market = {
	/** The reference price that the books and the planner use. */
	feedE18: (symbol: AssetName, second: number) => bigint;
	/** Seconds at which the reference price changed, the first included. */
	feedChanges: (symbol: AssetName) => readonly number[];
	/** The output of a pool, in units. */
	sellEth: (chain: ChainTerms, wei: bigint, second: number) => bigint;
	buyEth: (chain: ChainTerms, usdc: bigint, second: number) => bigint;
	gasPriceWei: (chain: ChainTerms, second: number) => bigint;
	/** Gas costs ten times as much on this day of the week, from 0 to 6. */
	tenfoldDay: number;
};

const feedSeconds: Record<AssetName, number> = { ETH: 300, USDC: 1_800 };
const poolSeconds = 60;
const gasSeconds = 600;
const yearSeconds = 365.25 * daySeconds;
const ethVolatility = 0.6;
const poolFee = 0.0005;
const rungsUsd = [100, 300, 1_000, 2_000, 5_000, 10_000, 30_000, 100_000];

export function createMarket(random: SeededRandom): Market {
	const normal = normalFrom(random.fork("prices"));
	const eth: number[] = [2_500];
	for (let i = 1; i * poolSeconds <= weekSeconds; i++) {
		const deviation = ethVolatility * Math.sqrt(poolSeconds / yearSeconds);
		eth.push((eth[i - 1] ?? 0) * Math.exp(deviation * normal()));
	}
	const usdc: number[] = [1];
	for (let i = 1; i * feedSeconds.USDC <= weekSeconds; i++) {
		usdc.push(1 + 0.9 * ((usdc[i - 1] ?? 1) - 1) + 0.000_1 * normal());
	}
	const tenfoldDay = random.fork("tenfold").between(0, 6);
	const gas = gasPrices(random.fork("gas"), tenfoldDay);
	const feeds: Record<AssetName, bigint[]> = {
		ETH: eth.filter((_, i) => i % (feedSeconds.ETH / poolSeconds) === 0).map(e18Of),
		USDC: usdc.map(e18Of),
	};
	const at = <T>(values: readonly T[], step: number, second: number) =>
		values[Math.min(values.length - 1, Math.floor(second / step))] as T;
	// An output is a float before it is rounded down to units: the model's pool, not an amount that is accounted for.
	const paid = (chain: ChainTerms, usd: number) =>
		(usd * (1 - poolFee)) / (1 + (0.001 * usd) / chain.poolDepthUsd);
	return {
		tenfoldDay,
		feedE18: (symbol, second) => at(feeds[symbol], feedSeconds[symbol], second),
		feedChanges: (symbol) => feeds[symbol].map((_, i) => i * feedSeconds[symbol]),
		sellEth: (chain, wei, second) =>
			BigInt(Math.floor(1e6 * paid(chain, (Number(wei) / 1e18) * at(eth, poolSeconds, second)))),
		buyEth: (chain, units, second) =>
			BigInt(Math.floor((1e18 * paid(chain, Number(units) / 1e6)) / at(eth, poolSeconds, second))),
		gasPriceWei: (chain, second) => BigInt(Math.round(chain.gasPriceWei * at(gas, gasSeconds, second))),
	};
}

/** Returns a pool's output at eight sizes, as the price cache has it. */
export function rungsOf(output: (input: bigint) => bigint, unitsPerUsd: bigint): Rung[] {
	return rungsUsd.map((usd) => {
		const input = BigInt(usd) * unitsPerUsd;
		return { input, output: output(input) };
	});
}

/** Returns how many times the usual price gas costs: it wanders, and on one day it is ten times as much. */
function gasPrices(random: SeededRandom, tenfoldDay: number): number[] {
	const normal = normalFrom(random);
	let log = 0;
	return Array.from({ length: weekSeconds / gasSeconds + 1 }, (_, i) => {
		log = 0.97 * log + 0.08 * normal();
		const isTenfold = Math.floor((i * gasSeconds) / daySeconds) === tenfoldDay;
		return Math.exp(log) * (isTenfold ? 10 : 1);
	});
}

/** Returns a source of normally distributed numbers. */
export function normalFrom(random: SeededRandom): () => number {
	return () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

function e18Of(usd: number): bigint {
	return BigInt(Math.round(usd * 1e9)) * 10n ** 9n;
}
