#!/usr/bin/env node
// Measures the line coverage of the three contracts and fails below a bound.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { contracts, forgeBinary } from "../forge.ts";

const help = `Measures the line coverage of the contracts.

Usage: coverage.ts [--at-least <percent>] [--json] [--help]

Exit status: 0 if each of the contracts reaches the bound (default 95), 1 otherwise.`;

const { values: options } = parseArgs({
	options: {
		"at-least": { type: "string", default: "95" },
		json: { type: "boolean", default: false },
		help: { type: "boolean", default: false },
	},
});
if (options.help) {
	console.log(help);
	process.exit(0);
}

// The invariant campaigns are left out, because coverage compiles without the optimizer, which makes them slow, and the
// unit tests reach every line.
const run = spawnSync(
	forgeBinary(),
	["coverage", "--no-match-contract", "Invariants", "--no-match-coverage", "(test|devnet|node_modules)"],
	{ cwd: contracts, encoding: "utf8", maxBuffer: 1 << 28 },
);
const measured = [
	...run.stdout.matchAll(/^\| src\/(Geo\w+|Order)\.sol\s+\| ([\d.]+)% \((\d+)\/(\d+)\)/gm),
].map(([, name, percent, hit, lines]) => ({
	name,
	percent: Number(percent),
	hit: Number(hit),
	lines: Number(lines),
}));
const wanted = ["GeoAccount", "GeoEscrow", "GeoVault"];
if (run.status !== 0 || wanted.some((name) => !measured.some((one) => one.name === name))) {
	console.error(`forge coverage failed:\n${run.stdout.slice(-3000)}\n${run.stderr.slice(-3000)}`);
	process.exit(1);
}
if (options.json) console.log(JSON.stringify(measured));
else
	for (const { name, percent, hit, lines } of measured)
		console.log(`${name}: ${percent} % of lines (${hit} of ${lines})`);
const below = measured.filter(({ percent }) => percent < Number(options["at-least"]));
for (const { name, percent } of below)
	console.error(`${name}: ${percent} % is below ${options["at-least"]} %`);
process.exit(below.length === 0 ? 0 : 1);
