// Measures the service beside bare twins of its parts, in one run on one machine. Prints figures and ratios; no bar.
import { parseArgs } from "node:util";
import { type BenchRow, type BenchSize, measureService } from "./measure-service.ts";

const usage = `Usage: node e2e/bench/service-report.ts [--json]

Starts a whole service of its own, measures it beside bare twins, and prints both figures and their ratio.
A machine that is busy makes both worse: only the ratio says something, and that only roughly.

  --json  print the rows as JSON

GEOSWAP_FULL=1 takes minutes and larger sizes.`;

const smoke: BenchSize = {
	quoteMs: 3_000,
	alone: 3,
	inFlight: 50,
	together: 100,
	workflowMs: 2_000,
	held: 500,
};
const full: BenchSize = {
	quoteMs: 20_000,
	alone: 20,
	inFlight: 50,
	together: 1_000,
	workflowMs: 20_000,
	held: 2_000,
};

const { values } = parseArgs({
	options: { json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});
if (values.help) {
	console.log(usage);
} else {
	const isFull = Boolean(process.env.GEOSWAP_FULL);
	const startedAt = performance.now();
	const say = (line: string) =>
		console.error(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s  ${line}`);
	const rows = await measureService(isFull ? full : smoke, say);
	console.log(values.json ? JSON.stringify(rows.map((row) => ({ ...row, ratio: ratio(row) }))) : table(rows));
}

function table(rows: BenchRow[]): string {
	const head = ["what", "service", "bare", "ratio", "the bare twin"];
	const body = rows.map((row) => [
		row.what,
		`${shown(row.service)} ${row.unit}`,
		`${shown(row.bare)} ${row.unit}`,
		ratio(row).toFixed(2),
		row.bareIs,
	]);
	const widths = head.map((_, i) => Math.max(...[head, ...body].map((cells) => cells[i]?.length ?? 0)));
	const line = (cells: string[]) =>
		cells
			.map((cell, i) => cell.padEnd(widths[i] ?? 0))
			.join("  ")
			.trimEnd();
	return [head, ...body].map(line).join("\n");
}

function shown(value: number): string {
	return value.toLocaleString("en-US", { maximumFractionDigits: value < 100 ? 1 : 0 });
}

function ratio({ service, bare }: BenchRow): number {
	return service / bare;
}
