import type { SeededRandom } from "../seeded-random.ts";
import { normalFrom } from "./market.ts";
import { chains, weekSeconds } from "./world-terms.ts";

export type FlowName = "one-way" | "mixed";

/** A swap that a caller wants. It is the same in each world of a seed, whether it is served or not. */
export type WantedSwap = {
	second: number;
	/** Positions in the list of chains. */
	from: number;
	to: number;
	/** In units of the settlement token. */
	size: bigint;
	paysEth: boolean;
	receivesEth: boolean;
};

const swapsPerHour = 40;
const medianUsd = 400;
const logDeviation = 1.2;
const maxUsd = 5_000;
/** Share of the swaps whose input, and of those whose output, is ETH. All others are the settlement token. */
const ethShare = 0.15;

export function createFlow(name: FlowName, random: SeededRandom): WantedSwap[] {
	const normal = normalFrom(random.fork("sizes"));
	const swaps: WantedSwap[] = [];
	let second = 0;
	for (;;) {
		second += (-Math.log(1 - random.next()) * 3_600) / swapsPerHour;
		if (second >= weekSeconds) return swaps;
		const [from, to] = name === "one-way" ? oneWay(random) : mixed(random, second / 3_600);
		const usd = Math.min(maxUsd, medianUsd * Math.exp(logDeviation * normal()));
		swaps.push({
			second: Math.floor(second),
			from,
			to,
			size: BigInt(Math.floor(usd * 1e6)),
			paysEth: random.chance(ethShare),
			receivesEth: random.chance(ethShare),
		});
	}
}

/** Three of four swaps leave Ethereum. */
function oneWay(random: SeededRandom): [number, number] {
	const from = random.chance(0.75) ? 0 : random.between(1, chains.length - 1);
	return [from, other(from, [1, 1, 1, 1], random)];
}

/** Directions turn around in the course of a day. */
function mixed(random: SeededRandom, hour: number): [number, number] {
	const bias = Math.sin((hour / 24) * 2 * Math.PI);
	const from = weighted([1 + 0.8 * bias, 1 - 0.8 * bias, 1 + 0.4 * Math.cos(hour / 5), 1], random);
	return [from, other(from, [1 - 0.6 * bias, 1 + 0.8 * bias, 1, 1], random)];
}

function other(from: number, weights: readonly number[], random: SeededRandom): number {
	return weighted(
		weights.map((weight, i) => (i === from ? 0 : weight)),
		random,
	);
}

function weighted(weights: readonly number[], random: SeededRandom): number {
	let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
	for (const [i, weight] of weights.entries()) {
		left -= weight;
		if (left < 0) return i;
	}
	return weights.findLastIndex((weight) => weight > 0);
}
