#!/usr/bin/env node
// Prints the gain of a caller who can refuse its own payout and always chooses best.
import { parseArgs } from "node:util";
import { seededRandom } from "../seeded-random.ts";
import { blockSeconds } from "./moving-desk.ts";
import { type ChooserResult, pairs, simulateChooser } from "./simulate-chooser.ts";

const help = `Simulates a caller who makes its recipient refuse whenever that pays, against the desk's real prices.

Usage: pnpm option [options]

  --seed <n>       the seed of all price paths (default 1)
  --paths <n>      price paths per row (default 200)
  --assumed <%>    the volatility that the desk is configured for (default: each row's real volatility)
  --json           print the rows as JSON
  --help           print this and exit`;

const volatilities = [20, 40, 60, 80, 100, 150, 200];
/** Waits from the submit until the fill is signed. They are one block for the deposit, then its depth. */
const waits = [
	...[0, 1, 2, 10, 32].map((blocks) => ({ depth: `${blocks} blocks`, seconds: (1 + blocks) * blockSeconds })),
	{ depth: "final, 13 min", seconds: 13 * 60 + blockSeconds },
	{ depth: "final, 20 min", seconds: 20 * 60 + blockSeconds },
];

type Row = { pair: string; volatilityPercent: number; depth: string; waitSeconds: number } & ChooserResult;

const { values } = parseArgs({
	options: {
		seed: { type: "string", default: "1" },
		paths: { type: "string", default: "200" },
		assumed: { type: "string" },
		json: { type: "boolean", default: false },
		help: { type: "boolean", default: false },
	},
});
if (values.help) console.log(help);
else report(rows());

function rows(): Row[] {
	const random = seededRandom(values.seed);
	return pairs.flatMap((pair) =>
		volatilities.flatMap((volatilityPercent) =>
			waits.map(({ depth, seconds }) => {
				const name = `${pair.from} -> ${pair.to}`;
				const result = simulateChooser({
					pair,
					volatilityPercent,
					...(values.assumed !== undefined && { assumedPercent: Number(values.assumed) }),
					waitSeconds: seconds,
					paths: Number(values.paths),
					random: random.fork(`${name}/${volatilityPercent}/${depth}`),
				});
				return { pair: name, volatilityPercent, depth, waitSeconds: seconds, ...result };
			}),
		),
	);
}

function report(all: Row[]): void {
	if (values.json) {
		console.log(JSON.stringify({ seed: values.seed, paths: Number(values.paths), rows: all }, null, "\t"));
		return;
	}
	console.table(
		all.map((row) => ({
			pair: row.pair,
			"volatility %": row.volatilityPercent,
			depth: row.depth,
			"gain before": row.gainBeforeBps.toFixed(3),
			"gain now": row.gainBps.toFixed(5),
			"quote costs more": row.addedInQuoteBps.toFixed(2),
			"median lowered": row.medianLoweredBps.toFixed(2),
			"mean lowered": row.meanLoweredBps.toFixed(2),
			"lowered %": (100 * row.loweredShare).toFixed(1),
		})),
	);
	console.log("All but percentages are basis points of the value.");
	console.log(`Largest mean gain: ${Math.max(...all.map(({ gainBps }) => gainBps)).toFixed(6)} bps`);
}
