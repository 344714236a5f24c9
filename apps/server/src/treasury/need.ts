import { type Amount, greater, mulDivDown, mulDivUp, rescaleUp } from "@geoswap/protocol";
import type { TreasuryPolicy } from "../config/treasury-policy.ts";

/** Settlement tokens that callers requested from a chain's vault and offered to it in one minute, served or refused. */
export type DemandMinute = { minute: number; outflow: Amount; inflow: Amount };

export type SettlementHolding = {
	chainId: number;
	decimals: number;
	/** The inventory that the operator wants here. */
	target: Amount;
	/** What can be paid out now: the vault's balance without reservations and queued moves. */
	free: Amount;
	/** What is on its way here and not late. */
	arriving: Amount;
	/** Minutes without demand may be left out. */
	demand: readonly DemandMinute[];
};

export type Need = {
	/** The inventory that the chain should have. */
	amount: Amount;
	/** Mean net outflow an hour. Below zero if more comes in. */
	outflowPerHour: bigint;
	/** Standard deviation of the net outflow of an hour. */
	deviationPerHour: bigint;
};

/** Older minutes would add less than half a percent. */
const halfLives = 8;

/**
 * Returns the need of each chain: what its net outflow takes within the horizon by mean and deviation, and at least a
 * share of its target. If that is more than the whole inventory, every need is lowered by the same share.
 */
export function needsOf(
	holdings: readonly SettlementHolding[],
	{ minute, policy }: { minute: number; policy: TreasuryPolicy },
): Map<number, Need> {
	const weights = weightsOf(policy);
	const wanted = holdings.map((holding) => {
		const { mean, deviation } = outflowAnHour(holding.demand, { minute, weights });
		const { horizonHours, deviations, minNeedPercent } = policy;
		const expected = mean * horizonHours + deviations * deviation * Math.sqrt(horizonHours);
		const floor = mulDivUp(holding.target, BigInt(minNeedPercent), 100n);
		return {
			holding,
			amount: greater(floor, unitsUp(expected)),
			outflowPerHour: unitsUp(mean),
			deviationPerHour: unitsUp(deviation),
		};
	});
	const total = sum(wanted.map(({ holding, amount }) => rescaleUp(amount, holding.decimals, 18)));
	const held = sum(holdings.map(({ free, arriving, decimals }) => rescaleUp(free + arriving, decimals, 18)));
	return new Map(
		wanted.map(({ holding, amount, outflowPerHour, deviationPerHour }) => [
			holding.chainId,
			{
				amount: total > held ? mulDivDown(amount, held, total) : amount,
				outflowPerHour,
				deviationPerHour,
			},
		]),
	);
}

type Weights = { byAge: Float64Array; total: number };

/** Returns what a minute's demand counts, by its age in minutes. */
function weightsOf({ halfLifeHours }: TreasuryPolicy): Weights {
	const halfLifeMinutes = halfLifeHours * 60;
	const keep = 2 ** (-1 / halfLifeMinutes);
	const byAge = new Float64Array(Math.ceil(halfLives * halfLifeMinutes));
	let total = 0;
	let weight = 1;
	for (let age = 0; age < byAge.length; age++) {
		byAge[age] = weight;
		total += weight;
		weight *= keep;
	}
	return { byAge, total };
}

/**
 * Returns mean and standard deviation of the net outflow an hour. Both are statistics of what was requested, so they
 * are floats: an error of their last digits changes a need by less than a unit in a billion.
 */
function outflowAnHour(
	demand: readonly DemandMinute[],
	{ minute, weights: { byAge, total } }: { minute: number; weights: Weights },
): { mean: number; deviation: number } {
	let sum = 0;
	let squares = 0;
	for (const row of demand) {
		const weight = byAge[minute - row.minute];
		if (weight === undefined) continue;
		const net = Number(row.outflow) - Number(row.inflow);
		sum += weight * net;
		squares += weight * net * net;
	}
	// Minutes without demand count too, so the weight is that of the whole window.
	const mean = sum / total;
	const variance = Math.max(0, squares / total - mean * mean);
	return { mean: 60 * mean, deviation: Math.sqrt(60 * variance) };
}

/** Returns a statistic in units, rounded up so that a need is never too small for it. */
function unitsUp(value: number): bigint {
	if (!Number.isFinite(value)) throw new RangeError(`${value} is not an amount`);
	return BigInt(Math.ceil(value));
}

function sum(values: readonly bigint[]): bigint {
	return values.reduce((total, value) => total + value, 0n);
}
