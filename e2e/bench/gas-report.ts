// Measures the gas of each step, beside its bare twin, and writes docs/gas.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type GasRow, measureGas } from "./measure-gas.ts";

const usage = `Usage: pnpm gas [--check] [--json]

Starts two chains, measures each step and its bare twin by real transactions, and writes docs/gas.md.

  --check  write nothing; exit 1 if a figure is more than 1 % off the committed one, or an aim is missed
  --json   print the figures as JSON`;

const { values: options } = parseArgs({
	options: { check: { type: "boolean" }, json: { type: "boolean" }, help: { type: "boolean" } },
});
if (options.help) {
	console.log(usage);
	process.exit(0);
}

const path = join(import.meta.dirname, "../../docs/gas.md");
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
	writeFileSync(path, page(rows));
	console.error(`written: docs/gas.md`);
}

function page(measured: GasRow[]): string {
	return `# What each step costs in gas

Made by \`pnpm gas\`, which sends real transactions on the devnet's chains and reads their receipts. Each step stands
beside its bare twin, measured in the same run: what someone with ether of their own would pay to do as much without us.
Both start from the same state, with no slot first written or cleared on one side only.

${["| Step | Gas | Bare twin | Gas | Ratio |", "|---|---:|---|---:|---:|", ...measured.map(tableRow)].join("\n")}

Aims: a later swap at most 1.25 × an account's own approve and open; in a bundle of ten, at most 0.95 × per op.

Where it goes:

- A swap pays for three slots: the order's state in the escrow, the EntryPoint's nonce (each swap has a key of its own,
  so that no two ops wait for each other), and for an instant the allowance. An account's own open pays for the first and
  the last, and for a second transaction.
- A first swap pays for its authorization. The devnet's nodes refund 12,500 of that even for an address that never held
  ether; a real chain refunds it only to addresses that exist, so a new wallet's first swap can cost that much more.
- The deposit that stores nothing shows what being held safely costs: it forgets who paid, and could never refund.
- A fill pays for its own slot, which is what makes it happen once, for the outflow cap, the access manager's answer and
  two looks at the recipient's balance.
- A release pays for one signature of each attester that the threshold asks for, and per order for the calldata of its
  fourteen words.
`;
}

function tableRow({ what, gas, bare, bareGas }: GasRow): string {
	return `| ${what} | ${grouped(gas)} | ${bare} | ${grouped(bareGas)} | ${ratio(gas, bareGas)} |`;
}

function differences(committed: string, measured: GasRow[]): string[] {
	const remedy = "run `pnpm gas` and commit docs/gas.md";
	const rows = committed.split("\n").flatMap((line) => readRow(line) ?? []);
	// The page generated from its own figures must be the same: text, ratios and all.
	if (page(rows) !== committed) return [`docs/gas.md is not what is written today; ${remedy}`];
	const name = ({ what, bare }: GasRow) => `${what}, beside ${bare}`;
	if (rows.map(name).join("\n") !== measured.map(name).join("\n")) {
		return [`docs/gas.md has other rows than were measured; ${remedy}`];
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

/** Returns true within one per cent: signatures and random keys have more or fewer zero bytes. */
function isNear(one: bigint, other: bigint): boolean {
	return (one > other ? one - other : other - one) * 100n <= other;
}

function missedAims(measured: GasRow[]): string[] {
	const aims: [string, number][] = [
		["later swap: one op", 1.25],
		["bundle of ten, per op", 0.95],
	];
	return aims.flatMap(([what, most]) => {
		const row = measured.find((candidate) => candidate.what === what);
		if (row !== undefined && Number(row.gas) <= most * Number(row.bareGas)) return [];
		return [`${what}: ${row && ratio(row.gas, row.bareGas)} of its bare twin, the aim is ${most}`];
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
