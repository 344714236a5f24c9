// Measures the gas of each step, beside its bare twin, and writes docs/gas.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type GasRow, measureGas } from "./measure-gas.ts";

const usage = `Usage: pnpm gas [--check] [--json]

Starts two chains, measures each step and its bare twin with real transactions, and writes docs/gas.md.

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

\`pnpm gas\` writes this page. It sends real transactions on the devnet's chains and reads the gas from their receipts.
\`pnpm gas --check\` measures again and fails if a figure is more than 1 % off; the CI step \`bench\` runs it.

Each step is compared with a *bare twin*, measured in the same run: what somebody with ether of their own would pay to do
the same without the service. Both start from the same state: no storage slot is first written or cleared on one side only.

${["| Step | Gas | Bare twin | Gas | Ratio |", "|---|---:|---|---:|---:|", ...measured.map(tableRow)].join("\n")}

The aims: a first swap costs at most 0.90 × an account's own approve and open, a later swap at most 0.80 ×, and each of
ten orders that are opened together at most 0.55 ×.

Where the gas goes:

- A swap pays for one storage slot: the order's state in the escrow, which also makes sure that the order opens once. The
  wallet's own code pays the escrow, so that there is no allowance and no nonce. An account's own open pays for an
  allowance for a moment, and for a second transaction.
- A first swap also pays for its EIP-7702 authorization. The devnet's nodes refund 12,500 of that even for an address that
  never held ether. A real chain refunds it only for addresses that exist, so a new wallet's first swap can cost that much
  more.
- An order of an agent also pays for its mandate's bytes, the owner's signature and a storage slot that counts what was
  used. The mandate that is measured has one token and no lists; one with 16 entries in each list costs 58,000 more.
- The deposit that stores nothing shows what safe custody costs: it forgets who paid and could never refund.
- A fill pays for its own storage slot, which makes sure that it happens once, for the outflow cap, for the question to the
  access manager, and for reading the recipient's balance twice.
- A release pays for one signature of each attester that the threshold requires, and for each order for the calldata of its
  fifteen words.
`;
}

function tableRow({ what, gas, bare, bareGas }: GasRow): string {
	return `| ${what} | ${grouped(gas)} | ${bare} | ${grouped(bareGas)} | ${ratio(gas, bareGas)} |`;
}

function differences(committed: string, measured: GasRow[]): string[] {
	const remedy = "run `pnpm gas` and commit docs/gas.md";
	const rows = committed.split("\n").flatMap((line) => readRow(line) ?? []);
	// The page generated from its own figures must be the same, with text, ratios and all.
	if (page(rows) !== committed) return [`the text of docs/gas.md is stale; ${remedy}`];
	const name = ({ what, bare }: GasRow) => `${what}, beside ${bare}`;
	if (rows.map(name).join("\n") !== measured.map(name).join("\n")) {
		return [`the rows of docs/gas.md are not the measured ones; ${remedy}`];
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
