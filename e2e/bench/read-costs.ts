import { readdirSync, readFileSync } from "node:fs";
import type { DatabaseConnection } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { parseProcess } from "../measure/process-figures.ts";

/** The parts of a stack, each one process or several. */
const parts = [
	"API",
	"worker",
	"attesters",
	"engine",
	"PostgreSQL",
	"Redis",
	"chains",
	"callers",
	"bare twin",
	"bench",
] as const;
export type Part = (typeof parts)[number];

/** The parts that a change of this service can make cheaper. */
export const ownParts: readonly Part[] = ["API", "worker", "attesters", "engine", "PostgreSQL", "Redis"];

/** The costs since the start, or between two moments. */
export type Costs = {
	atMs: number;
	processorMs: Record<Part, number>;
	/** Statements by role and text, begin and commit included. */
	statements: { role: string; text: string; calls: number; ms: number }[];
	transactions: number;
	/** Number of times the engine called a worker: a suspended run counts again when it resumes. */
	engineRuns: number;
	/** Number of records that the engine wrote to its log. */
	engineRecords: number;
	/** Calls of the services to the first providers, by method. Each call of a batch counts. */
	rpcCalls: Record<string, number>;
};

/** Reads the processor time of all child processes so far, and the counters of PostgreSQL, the engine and the nodes. */
export async function readCosts(
	environment: Pick<Environment, "origin" | "destination" | "solana" | "rpcCounts" | "metricsUrls">,
	database: DatabaseConnection,
): Promise<Costs> {
	const { origin, destination, solana, rpcCounts, metricsUrls } = environment;
	const [statements, [row], engine, ...chains] = await Promise.all([
		database.query<Costs["statements"][number]>(
			`select rolname as role, query as text, sum(calls)::int as calls, sum(total_plan_time + total_exec_time)::float as ms
			from pg_stat_statements join pg_roles on oid = userid
			where rolname <> current_user group by 1, 2`,
		),
		database.query<{ transactions: number }>(
			`select (xact_commit + xact_rollback)::int as transactions from pg_stat_database
			where datname = current_database()`,
		),
		fetch(metricsUrls.engine).then((response) => response.text()),
		...[origin, destination, solana].map(rpcCounts),
	]);
	return {
		atMs: performance.now(),
		processorMs: readProcessors(),
		statements,
		transactions: row?.transactions ?? 0,
		engineRuns: counterOf(engine, "restate_connection_pool_stream_opened_total"),
		engineRecords: counterOf(engine, "restate_bifrost_sequencer_committed_records_total"),
		rpcCalls: chains.reduce((sum, counts) => addCounts(sum, counts, 1), {}),
	};
}

/** Returns the costs between two moments. */
export function costsBetween(before: Costs, after: Costs): Costs {
	return combineCosts(after, before, -1);
}

export function addCosts(a: Costs | undefined, b: Costs): Costs {
	return a ? combineCosts(a, b, 1) : b;
}

function combineCosts(a: Costs, b: Costs, sign: 1 | -1): Costs {
	const statements = new Map(a.statements.map((one) => [`${one.role} ${one.text}`, one]));
	for (const { role, text, calls, ms } of b.statements) {
		const { calls: otherCalls = 0, ms: otherMs = 0 } = statements.get(`${role} ${text}`) ?? {};
		statements.set(`${role} ${text}`, {
			role,
			text,
			calls: otherCalls + sign * calls,
			ms: otherMs + sign * ms,
		});
	}
	return {
		atMs: a.atMs + sign * b.atMs,
		processorMs: byPart((part) => a.processorMs[part] + sign * b.processorMs[part]),
		statements: [...statements.values()]
			.filter(({ calls }) => calls > 0)
			.toSorted((x, y) => y.calls - x.calls),
		transactions: a.transactions + sign * b.transactions,
		engineRuns: a.engineRuns + sign * b.engineRuns,
		engineRecords: a.engineRecords + sign * b.engineRecords,
		rpcCalls: addCounts(a.rpcCalls, b.rpcCalls, sign),
	};
}

function addCounts(
	a: Record<string, number>,
	b: Record<string, number>,
	sign: 1 | -1,
): Record<string, number> {
	const sum = { ...a };
	for (const [method, count] of Object.entries(b)) sum[method] = (sum[method] ?? 0) + sign * count;
	return sum;
}

export function countCalls({ rpcCalls }: Costs): number {
	return Object.values(rpcCalls).reduce((sum, count) => sum + count, 0);
}

/**
 * Counts the clients' statements that do work: not those that begin and end transactions, and not those of triggers.
 */
export function countStatements({ statements }: Costs): number {
	return statements
		.filter(({ text }) => /^\s*(select|insert|update|delete|with|lock|notify|listen)\b/i.test(text))
		.reduce((sum, { calls }) => sum + calls, 0);
}

function byPart(figure: (part: Part) => number): Record<Part, number> {
	return Object.fromEntries(parts.map((part) => [part, figure(part)])) as Record<Part, number>;
}

/** Sums the processor time of this process and its descendants. A parent's time includes that of its ended children. */
function readProcessors(): Record<Part, number> {
	const running = readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.flatMap((name) => {
			try {
				const stat = readFileSync(`/proc/${name}/stat`, "utf8");
				return { pid: Number(name), ...parseProcess(stat) };
			} catch {
				// The process has ended since the folder was read.
				return [];
			}
		});
	const sums = byPart(() => 0);
	const add = (parent: number, partAbove: Part) => {
		for (const { pid, parentPid, ownMs, endedChildrenMs } of running) {
			if (parentPid !== parent) continue;
			const part = partOf(pid) ?? partAbove;
			sums[part] += ownMs + endedChildrenMs;
			add(pid, part);
		}
	};
	// This process's time includes ended loads, which are no cost of the current measurement.
	sums.bench += running.find(({ pid }) => pid === process.pid)?.ownMs ?? 0;
	add(process.pid, "bench");
	return sums;
}

const commands: readonly [RegExp, Part][] = [
	[/main\.ts\0api\0/, "API"],
	[/main\.ts\0worker\0/, "worker"],
	[/main\.ts\0attester\0/, "attesters"],
	[/restate-server/, "engine"],
	[/postgres/, "PostgreSQL"],
	[/redis-server/, "Redis"],
	[/anvil|solana/, "chains"],
	[/load-process\.ts/, "callers"],
	[/bare-[a-z]+\.ts/, "bare twin"],
];

function partOf(pid: number): Part | undefined {
	try {
		const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
		return commands.find(([pattern]) => pattern.test(command))?.[1];
	} catch {
		return undefined;
	}
}

function counterOf(metrics: string, name: string): number {
	const samples = metrics.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, "gm"));
	return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
}
