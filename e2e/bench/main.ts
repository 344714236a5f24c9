// Measures the service beside bare twins of its parts, in one run on one machine. Prints figures and ratios, sets no
// limit.
import { parseArgs } from "node:util";
import type { BenchRow } from "./bench-row.ts";
import { type BenchSize, benchParts, measureService } from "./measure-service.ts";

const usage = `Usage: pnpm bench [--short | --full] [--only PARTS] [--json] [--statements]

Starts a complete service (chains, PostgreSQL, Redis, engine, API, worker and attesters, each in its own process), measures
it beside bare twins, and prints the figures and their ratios. Takes about three minutes on two idle cores.

  --short       a smaller run of about a minute: shows that the benchmark works, not for figures
  --full        a larger run of up to 25 minutes, with 100 and 10,000 pending swaps
  --only PARTS  some of ${benchParts.join(",")}; pending needs costs or arrivals before it
  --json        print the rows, and all statements by role, as JSON
  --statements  print the statements that are executed most often per swap

Swaps are timed from submit to settled. They are quoted, built and signed before that, and the cost of those steps is in
rows of its own. Processor time is the time that a process and its children used from the first quote until the last
release is final, divided by the number of swaps. It includes the work that goes on without swaps, which is printed too. A
statement is one that PostgreSQL executed, without begin and commit. The bare twin recovers one signature, writes and reads
one row, calls the engine once, and sends transactions of the same sizes to the same depth. The memory that a held call has
in use after a garbage collection is about the same in every run. The growth of resident memory is not: with few calls, one
run may show three times as much as another.

On a busy machine all times are longer, those of the service and those of the bare twin. Then only the ratio means
something, and only roughly. Processor time per swap is affected less.`;

const sizes: Record<"short" | "usual" | "full", BenchSize> = {
	short: {
		quoteMs: 2_000,
		held: 300,
		builds: 50,
		idleMs: 2_000,
		together: [{ inFlight: 20, count: 40 }],
		arrivals: [{ perSecond: 4, depth: 1, seconds: 2 }],
		pending: [],
	},
	usual: {
		quoteMs: 4_000,
		held: 500,
		builds: 200,
		idleMs: 8_000,
		together: [{ inFlight: 60, count: 120 }],
		arrivals: [
			{ perSecond: 1, depth: 1, seconds: 10 },
			{ perSecond: 4, depth: 1, seconds: 8 },
			{ perSecond: 8, depth: 1, seconds: 8 },
			{ perSecond: 8, depth: 0, seconds: 8 },
		],
		pending: [],
	},
	full: {
		quoteMs: 20_000,
		held: 2_000,
		builds: 200,
		idleMs: 20_000,
		together: [
			{ inFlight: 60, count: 600 },
			{ inFlight: 120, count: 480 },
		],
		arrivals: ([0, 1] as const).flatMap((depth) =>
			[1, 4, 8, 12].map((perSecond) => ({ perSecond, depth, seconds: 20 })),
		),
		pending: [100, 10_000],
	},
};
const maxOften = 40;

const { values } = parseArgs({
	options: {
		short: { type: "boolean" },
		full: { type: "boolean" },
		only: { type: "string", default: benchParts.join(",") },
		json: { type: "boolean" },
		statements: { type: "boolean" },
		help: { type: "boolean", short: "h" },
	},
});
if (values.help) {
	console.log(usage);
} else {
	const startedAt = performance.now();
	const say = (line: string) =>
		console.error(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s  ${line}`);
	const size = values.full ? "full" : values.short ? "short" : "usual";
	const { rows, statements } = await measureService(sizes[size], { parts: values.only.split(","), say });
	if (values.json) {
		console.log(JSON.stringify({ rows, statements }));
	} else {
		console.log(table(rows));
		if (values.statements)
			for (const { role, text, perSwap, msPerSwap } of statements.slice(0, maxOften))
				console.log(`${perSwap.toFixed(1)} (${msPerSwap.toFixed(2)} ms) ${role}: ${text.slice(0, 160)}`);
	}
	say("done");
}

function table(rows: BenchRow[]): string {
	const head = ["", "service", "bare", "ratio"];
	const groups = Object.entries(Object.groupBy(rows, ({ group }) => group)).map(([group, members = []]) => ({
		title: [group, members.find(({ bareIs }) => bareIs)?.bareIs].filter(Boolean).join("; bare: "),
		lines: members.map(({ what, unit, service, bare }) => [
			`  ${what}`,
			shown(service, unit),
			bare === undefined ? "" : shown(bare, unit),
			bare === undefined ? "" : (service / bare).toFixed(2),
		]),
	}));
	const all = [head, ...groups.flatMap(({ lines }) => lines)];
	const widths = head.map((_, i) => Math.max(...all.map((cells) => cells[i]?.length ?? 0)));
	const line = (cells: string[]) =>
		cells
			.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
			.join("  ")
			.trimEnd();
	return [line(head), ...groups.flatMap(({ title, lines }) => [title, ...lines.map(line)])].join("\n");
}

function shown(value: number, unit: string): string {
	const digits = value.toLocaleString("en-US", { maximumFractionDigits: value < 100 ? 1 : 0 });
	return unit ? `${digits} ${unit}` : digits;
}
