// Measures the gas of each step, beside its bare twin, and writes its table into docs/measured.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type GasRow, measureGas } from "./measure-gas.ts";

const usage = `Usage: pnpm gas [--check] [--json]

Starts two chains, measures each step and its bare twin with real transactions, and writes its table into docs/measured.md.

  --check  write nothing; exit 1 if a figure is more than 1 % off the committed one, or an aim is missed
  --json   print the figures as JSON`;

const { values: options } = parseArgs({
	options: { check: { type: "boolean" }, json: { type: "boolean" }, help: { type: "boolean" } },
});
if (options.help) {
	console.log(usage);
	process.exit(0);
}

const path = join(import.meta.dirname, "../../docs/measured.md");
const begin = "<!-- gas: begin -->\n";
const end = "<!-- gas: end -->\n";
const rows: GasRow[] = [];
await measureGas((row) => {
	rows.push(row);
	if (!options.json) console.log(tableRow(row));
});

if (options.json) {
	console.log(JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? Number(value) : value), "\t"));
}
if (options.check) {
	const problems = [...differences(readFileSync(path, "utf8"), rows), ...missedAims(rows)];
	for (const problem of problems) console.error(problem);
	process.exitCode = problems.length === 0 ? 0 : 1;
} else {
	const text = readFileSync(path, "utf8");
	writeFileSync(
		path,
		text.replace(sectionOf(text), () => section(rows)),
	);
	console.error(`written: docs/measured.md`);
}

/** Returns the part of the page that this program writes. */
function sectionOf(text: string): string {
	return text.slice(text.indexOf(begin) + begin.length, text.indexOf(end));
}

function section(measured: GasRow[]): string {
	return `\`pnpm gas\` writes this section from receipts of real transactions on the devnet's chains. \`pnpm gas --check\`, which CI runs, fails
if a figure is more than 1 % off. Each step is compared with a *bare twin*: the same step without the service, for an account with
ether of its own, from the same state.

${["| Step | Gas | Bare twin | Gas | Ratio |", "|---|---:|---|---:|---:|", ...measured.map(tableRow)].join("\n")}

The check also fails if a first swap costs more than 0.90 × an account's own approve and open, a later swap more than 0.80 ×, or
each of ten orders that are opened together more than 0.55 ×.

- The devnet's nodes refund 12,500 gas of a first swap's EIP-7702 authorization even for an address that never held ether. A
  real chain refunds it only for addresses that exist, so a new wallet's first swap can cost that much more.
- The mandate that is measured has one token and no lists. One with 16 entries in each list costs 58,000 more.
`;
}

function tableRow({ what, gas, bare, bareGas }: GasRow): string {
	return `| ${what} | ${grouped(gas)} | ${bare} | ${grouped(bareGas)} | ${ratio(gas, bareGas)} |`;
}

function differences(committed: string, measured: GasRow[]): string[] {
	const remedy = "run `pnpm gas` and commit docs/measured.md";
	const written = sectionOf(committed);
	const rows = written.split("\n").flatMap((line) => readRow(line) ?? []);
	// The section generated from its own figures must be the same: text, ratios and all.
	if (section(rows) !== written) return [`the text on gas in docs/measured.md is stale; ${remedy}`];
	const name = ({ what, bare }: GasRow) => `${what}, beside ${bare}`;
	if (rows.map(name).join("\n") !== measured.map(name).join("\n")) {
		return [`the rows on gas in docs/measured.md are not the measured ones; ${remedy}`];
	}
	return measured.flatMap((row, i) => {
		const { gas = 0n, bareGas = 0n } = rows[i] ?? {};
		if (isNear(row.gas, gas) && isNear(row.bareGas, bareGas)) return [];
		return [`${name(row)}: ${row.gas} and ${row.bareGas}, not ${gas} and ${bareGas}; ${remedy}`];
	});
}

function readRow(line: string): GasRow | undefined {
	const [, what, gas, bare, bareGas] =
		/^\| (.+) \| ([\d,]+) \| (.+) \| ([\d,]+) \| [\d.]+ \|$/.exec(line) ?? [];
	if (what === undefined || gas === undefined || bare === undefined || bareGas === undefined)
		return undefined;
	return { what, gas: ungrouped(gas), bare, bareGas: ungrouped(bareGas) };
}

/** Returns true within one per cent, because signatures and random keys have more or fewer zero bytes. */
function isNear(one: bigint, other: bigint): boolean {
	return (one > other ? one - other : other - one) * 100n <= other;
}

function missedAims(measured: GasRow[]): string[] {
	const aims: [string, number][] = [
		["first swap: delegation and order", 0.9],
		["later swap: one order", 0.8],
		["ten orders together, per order", 0.55],
	];
	return aims.flatMap(([what, most]) => {
		const row = measured.find((candidate) => candidate.what === what);
		if (row !== undefined && Number(row.gas) <= most * Number(row.bareGas)) return [];
		return [`${what}: ${row && ratio(row.gas, row.bareGas)} of its bare twin, but the aim is ${most}`];
	});
}

function grouped(gas: bigint): string {
	return gas.toLocaleString("en-US");
}

function ungrouped(text: string): bigint {
	return BigInt(text.replaceAll(",", ""));
}

function ratio(gas: bigint, bareGas: bigint): string {
	return (Number(gas) / Number(bareGas)).toFixed(2);
}
