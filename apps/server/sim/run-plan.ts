import { randomBytes } from "node:crypto";
import pg from "pg";
import { auditAt } from "./audit-world.ts";
import { isRentBack, rentBackByMs } from "./check-program.ts";
import { checkRecord } from "./check-record.ts";
import { checkWorld } from "./check-world.ts";
import { createWorld } from "./create-world.ts";
import { honest } from "./lie.ts";
import type { Plan } from "./plan.ts";
import { openSimDatabase, type SimDatabase } from "./sim-database.ts";
import { scheduleFaults } from "./sim-faults.ts";
import { hostileNodes } from "./sim-hostile-nodes.ts";
import { type StrangerFigures, watchWithStrangers } from "./sim-strangers.ts";
import { watchOverdue } from "./watch-overdue.ts";
import { type World, worldStartMs } from "./world.ts";

export type RunOptions = {
	/** A PostgreSQL server. This process creates its own database there, and reuses it in consecutive runs. */
	databaseUrl: string;
	/** True to keep the trace, which is long. */
	keepTrace: boolean;
};

export type RunResult = {
	/** Descriptions of the violated rules, or empty if there are none. */
	violations: string[];
	/**
	 * One line per event, always the same for one plan: `<ms from the start> <who>: <what>`. Faults begin with `! `; lines
	 * about one swap refer to it as `#<its place in the plan>`.
	 */
	trace: string[];
	stats: RunStats;
};

type RunStats = {
	swaps: number;
	byStatus: Record<string, number>;
	events: number;
	simulatedMs: number;
	faultsApplied: Record<string, number>;
	/** The service's loss by reorgs and late refunds, according to the books. */
	serviceLossUsdCents: string;
	/** The costs and waits of a plan that has strangers: the service's, the callers' and the strangers'. */
	strangers?: StrangerFigures;
	/** The real time, and how it was spent. */
	wall: {
		totalMs: number;
		statements: number;
		databaseMs: number;
		chainCalls: number;
		chainMs: number;
	};
};

/** Milliseconds until the followers have read the chains and the attesters' heartbeats have arrived. */
const warmUpMs = 6_000;
/**
 * Milliseconds that the slowest swap may take once there are no more faults: its deadlines, and finality after each.
 */
const patienceMs = 900_000;
const lookEveryMs = 5_000;
/** Times of the audits before the one at the end, as shares of the hostile time. */
const auditShares = [0.3, 0.6, 0.9];
const seenWithinMs = 20_000;
/** The same after a restore, if the service has lost the swap of the transaction. */
const foundWithinMs = 60_000;

/** Runs a plan's world to its end, and returns the violated rules. Only one can run at a time. */
export async function runPlan(plan: Plan, options: RunOptions): Promise<RunResult> {
	const { databaseUrl } = options;
	const made = databases.get(databaseUrl) ?? createRunDatabase(databaseUrl);
	databases.set(databaseUrl, made);
	return runIn((await made).database, plan, options);
}

/** The databases of this process, by server. */
const databases = new Map<string, Promise<RunDatabase>>();

/** Drops the databases of this process, so that nothing stays behind on the server. */
export async function dropRunDatabases(): Promise<void> {
	const made = await Promise.all(databases.values());
	databases.clear();
	for (const { drop } of made) await drop();
}

type RunDatabase = { database: SimDatabase; drop: () => Promise<void> };

/** Creates a database for any number of runs, one after the other. */
export async function createRunDatabase(serverUrl: string): Promise<RunDatabase> {
	const name = `geoswap_sim_${randomBytes(6).toString("hex")}`;
	await onServer(serverUrl, `create database ${name}`);
	const url = new URL(serverUrl);
	url.pathname = `/${name}`;
	const roles = {
		api: `${name}_api`,
		worker: `${name}_worker`,
		auditor: `${name}_auditor`,
		console: `${name}_console`,
	};
	const database = await openSimDatabase({ url: url.href, startMs: worldStartMs, roles });
	return {
		database,
		drop: async () => {
			await database.close();
			await onServer(serverUrl, `drop database ${name} with (force)`);
			await onServer(serverUrl, `drop role ${Object.values(roles).join(", ")}`);
		},
	};
}

async function onServer(serverUrl: string, sql: string): Promise<void> {
	const client = new pg.Client({ connectionString: serverUrl });
	await client.connect();
	try {
		await client.query(sql);
	} finally {
		await client.end();
	}
}

async function runIn(database: SimDatabase, plan: Plan, { keepTrace }: RunOptions): Promise<RunResult> {
	const startedAt = performance.now();
	await database.reset();
	const before = { ...database.figures };
	const world = await createWorld({ seed: plan.seed, database, keepTrace });
	const { scheduler, wallets } = world;
	for (const [index, swap] of plan.swaps.entries()) {
		scheduler.in(warmUpMs + swap.atMs, `#${index} begins`, () => {
			void wallets.begin(swap, index);
		});
	}
	const figures = plan.strangers === undefined ? undefined : watchWithStrangers(world, plan, warmUpMs);
	if (plan.nodes) {
		world.troubles.workerNodes = hostileNodes(plan.nodes);
		scheduler.in(warmUpMs + plan.hostileMs, "the nodes are well again", () => {
			world.troubles.workerNodes = honest;
		});
	}
	const faultsApplied = scheduleFaults(world, plan, warmUpMs);
	// A chain takes no new swaps while events are missing, and an event that is read late can be too late to deliver.
	if (plan.nodes && plan.nodes !== "cap") faultsApplied.nodes = 1;
	const overdue = watchOverdue(world, plan, warmUpMs);
	const audits = auditAt(
		world,
		auditShares.map((share) => warmUpMs + Math.round(plan.hostileMs * share)),
	);
	const quietMs = worldStartMs + warmUpMs + plan.hostileMs;
	await scheduler.runUntil(() => false, quietMs);
	const watched = watchEnds(world, plan.swaps.length);
	await scheduler.runUntil(() => watched.isOver, quietMs + patienceMs);
	const rent = watchRent(world);
	await scheduler.runUntil(() => rent.isBack, Math.max(scheduler.nowMs(), rentBackByMs(world)));
	const { violations, byStatus, lossUsdCents, isBrokenByChain } = await inWorld(
		world,
		checkWorld(world, { faultsApplied }),
	);
	const audited = audits.breaches
		.filter((breach) => !isBrokenByChain(breach))
		.map(({ invariant, message, atSeconds }) => `${invariant} from ${atSeconds} s on: ${message}`);
	const recorded = await inWorld(
		world,
		checkRecord({
			plan,
			record: world.record,
			swaps: wallets.swaps,
			pool: world.database.pool,
			planStartMs: worldStartMs + warmUpMs,
		}),
	);
	return {
		violations: [
			...audited,
			...overdue,
			...watched.violations,
			...violations,
			...recorded,
			...(await pausesOf(world)),
		],
		trace: world.trace,
		stats: {
			swaps: plan.swaps.length,
			byStatus,
			events: world.eventCount(),
			simulatedMs: scheduler.nowMs() - worldStartMs,
			faultsApplied,
			serviceLossUsdCents: String(lossUsdCents),
			...(figures && { strangers: await inWorld(world, figures()) }),
			wall: {
				totalMs: Math.round(performance.now() - startedAt),
				statements: database.figures.statements - before.statements,
				databaseMs: Math.round(database.figures.wallMs - before.wallMs),
				chainCalls: world.figures.calls,
				chainMs: Math.round(world.figures.wallMs),
			},
		},
	};
}

/** Returns a violation for each pause, because only the service itself pauses chains here. */
async function pausesOf(world: World): Promise<string[]> {
	const { rows } = await inWorld(
		world,
		world.database.pool.query<{ chain_id: number; reason: string }>(
			"select chain_id, reason from pauses order by id",
		),
	);
	return rows.map(({ chain_id, reason }) => `chain ${chain_id} is paused: ${reason}`);
}

/**
 * Runs the world until the work is done, because a process that holds the database at this moment must be able to
 * finish.
 */
async function inWorld<T>({ scheduler }: World, work: Promise<T>): Promise<T> {
	let isDone = false;
	const done = work.finally(() => {
		isDone = true;
	});
	// The rejection is handled by the return below.
	done.catch(() => {});
	if (!(await scheduler.runUntil(() => isDone, scheduler.nowMs() + patienceMs))) {
		throw new Error("the database was not given back");
	}
	return done;
}

/** Checks at intervals whether the rent of all orders on Solana has come back to the fee payers. */
function watchRent(world: World): { isBack: boolean } {
	const watched = { isBack: false };
	const look = async () => {
		watched.isBack = await isRentBack(world);
		if (!watched.isBack) world.scheduler.in(lookEveryMs, "look for rent", look);
	};
	world.scheduler.in(0, "look for rent", look);
	return watched;
}

/** Checks at intervals whether everything is done, and whether a final status has changed. */
function watchEnds(world: World, swaps: number): { isOver: boolean; violations: string[] } {
	const watched = { isOver: false, violations: [] as string[] };
	const known = new Map<string, string>();
	const sinceMs = world.scheduler.nowMs();
	const look = async () => {
		const { rows } = await world.database.pool.query<{ id: string; status: string; is_ended: boolean }>(
			"select id, status, ended_at is not null as is_ended from swaps order by id",
		);
		for (const { id, status, is_ended } of rows) {
			const before = known.get(id);
			if (before !== undefined && before !== status) {
				watched.violations.push(`swap ${id} was ${before} and is ${status}`);
			}
			if (is_ended) known.set(id, status);
		}
		const isAllBegun =
			world.wallets.swaps.length === swaps &&
			world.wallets.swaps.every(({ outcome }) => outcome !== "not-yet") &&
			!world.wallets.isBusy();
		// Transactions still on their way to a chain arrive there within this time.
		const withinMs = world.record.restoredAtMs.length > 0 ? foundWithinMs : seenWithinMs;
		const isSeen = world.scheduler.nowMs() - sinceMs >= withinMs;
		const { rowCount: unknown } = await world.database.pool.query(
			"select from unknown_orders where outcome is null limit 1",
		);
		watched.isOver = isAllBegun && isSeen && unknown === 0 && rows.every(({ is_ended }) => is_ended);
		if (!watched.isOver) world.scheduler.in(lookEveryMs, "look", look);
	};
	world.scheduler.in(0, "look", look);
	return watched;
}
