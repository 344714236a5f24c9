import { type Milliseconds, type ReadyResponse, readyResponseSchema, SwapError } from "@geoswap/protocol";
import * as z from "zod";
import type { Log } from "../../telemetry/log.ts";
import { within } from "../../telemetry/within.ts";
import type { Route } from "../http/route.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";

/** A dependency that requests may need. */
export type ReadyCheck = {
	/** The name that operators use. It is public. */
	name: string;
	/**
	 * The check's group, if a starting process cannot serve requests until one check of that group has passed. The
	 * process waits for the other checks of the group only for a limited time, because one that is down must not keep a
	 * new process from getting requests.
	 */
	neededAtStart?: string;
	/** Returns the problem in words that may be public, or undefined if there is none. Thrown errors are not shown. */
	check: () => Promise<string | undefined>;
};

/** The progress of a process's start. It is kept when the routes are replaced, because a start ends only once. */
export type Startup = { passed: Set<string>; ofUseAtMs: Milliseconds | undefined; isOver: boolean };

export function newStartup(): Startup {
	return { passed: new Set(), ofUseAtMs: undefined, isOver: false };
}

type Result = Pick<ReadyCheck, "name" | "neededAtStart"> & { problem: string | undefined };

/**
 * GET /ready: reports whether requests should be sent here, and what does not work. A process that has started gets
 * requests until it stops. A dependency that fails later fails for the other processes too, and a caller is better
 * served by an error of the service than by no process at all. Callers share a round of checks, and its results for a
 * moment, so the checks' rate does not depend on the number of callers.
 */
export function getReady({
	checks,
	startup: start = newStartup(),
	stopping,
	timeoutMs = 1_000,
	keptMs = 250,
	othersMs = 10_000,
	nowMs,
}: {
	checks: readonly ReadyCheck[];
	startup?: Startup;
	/** Aborted when the process is stopping. */
	stopping?: AbortSignal | undefined;
	timeoutMs?: Milliseconds;
	keptMs?: Milliseconds;
	/** Milliseconds that a process which can already serve waits for the other checks of its start. */
	othersMs?: Milliseconds;
	nowMs: () => Milliseconds;
}): Route {
	let round: { results: Promise<Result[]>; endedAtMs: Milliseconds | undefined } | undefined;
	let said = "";
	return {
		method: "GET",
		path: "/ready",
		operation: undefined,
		isUnlimited: true,
		doc: getReadyDoc,
		async handle({ log }): Promise<ReadyResponse> {
			// A stopping process is not ready, regardless of what the checks would return and how long they would take.
			if (stopping?.aborted) throw notReadyError([{ name: "this process", problem: "it is stopping" }]);
			const results = await currentResults(log);
			if (!start.isOver) throw notReadyError(results.flatMap(stillAwaited));
			return {
				status: results.some(({ problem }) => problem !== undefined) ? "degraded" : "ready",
				checks: results.map(({ name, problem }) =>
					problem === undefined ? { name, ready: true } : { name, ready: false, problem },
				),
			};
		},
	};

	function currentResults(log: Log): Promise<Result[]> {
		if (round && (round.endedAtMs === undefined || nowMs() - round.endedAtMs < keptMs)) return round.results;
		const begun: NonNullable<typeof round> = { results: runChecks(), endedAtMs: undefined };
		round = begun;
		return begun.results;

		async function runChecks(): Promise<Result[]> {
			const results = await Promise.all(checks.map((check) => look(check, log)));
			begun.endedAtMs = nowMs();
			goOnStarting(results);
			sayChange(results, log);
			return results;
		}
	}

	async function look({ check, ...of }: ReadyCheck, log: Log): Promise<Result> {
		try {
			return { ...of, problem: await within(timeoutMs, check()) };
		} catch (err) {
			log.debug({ check: of.name, err }, "a readiness check failed");
			return { ...of, problem: "it does not answer" };
		}
	}

	function goOnStarting(results: Result[]): void {
		if (start.isOver) return;
		for (const { name, problem } of results) if (problem === undefined) start.passed.add(name);
		const needed = checks.filter(({ neededAtStart }) => neededAtStart !== undefined);
		const passed = needed.filter(({ name }) => start.passed.has(name));
		const isOfUse = needed.every((one) => passed.some((other) => other.neededAtStart === one.neededAtStart));
		if (!isOfUse) return;
		start.ofUseAtMs ??= nowMs();
		start.isOver = passed.length === needed.length || nowMs() - start.ofUseAtMs >= othersMs;
	}

	function stillAwaited({ name, neededAtStart, problem }: Result): Problem[] {
		if (neededAtStart === undefined || problem === undefined || start.passed.has(name)) return [];
		return [{ name, problem }];
	}

	/** Logs a change once, not with every round. */
	function sayChange(results: Result[], log: Log): void {
		const problems = results.flatMap(({ name, problem }) => (problem === undefined ? [] : { name, problem }));
		const names = problems.map(({ name }) => name).join();
		if (names === said) return;
		said = names;
		if (problems.length > 0) log.warn({ problems }, "not everything is ready");
		else log.info("everything is ready");
	}
}

type Problem = { name: string; problem: string };

function notReadyError(notReady: Problem[]): SwapError<"UPSTREAM_UNAVAILABLE"> {
	return new SwapError(
		"UPSTREAM_UNAVAILABLE",
		{ ...(notReady[0] && { upstream: notReady[0].name }), notReady },
		{
			message:
				"This process is not ready for requests. See details.notReady, and send the request to another process.",
		},
	);
}

const getReadyDoc: RouteDoc = {
	id: "getReady",
	summary: "Whether requests should be sent here",
	description: `For a load balancer, and for people who want to know what does not work. \`503 UPSTREAM_UNAVAILABLE\` means that this
process should get no requests: it is stopping, or it has just started and has not yet reached its database or priced a chain.
\`details.notReady\` names what it waits for. Once the process is up, it answers 200 until it stops. If a part does not work, the
status is \`degraded\`, and the checks say which part. Results are up to 250 ms old.`,
	response: readyResponseSchema,
	errors: ["UPSTREAM_UNAVAILABLE"],
	example: {
		response: {
			status: "degraded",
			checks: [
				{ name: "database", ready: true },
				{ name: "redis", ready: true },
				{ name: "engine", ready: true },
				{ name: "prices of Base (8453)", ready: true },
				{
					name: "assets of Base (8453)",
					ready: false,
					problem: "not quoted: ETH, because the feed of ETH is stale",
				},
				{ name: "worker on Base (8453)", ready: true },
			],
		},
	},
};

/**
 * GET /health: answers if the process runs. It does not report dependencies, because a restart would not fix those.
 */
export function getHealth(): Route {
	return {
		method: "GET",
		path: "/health",
		operation: undefined,
		isUnlimited: true,
		doc: getHealthDoc,
		handle: async () => ({ status: "ok" }),
	};
}

const getHealthDoc: RouteDoc = {
	id: "getHealth",
	summary: "Whether the process answers",
	description: `For a supervisor that restarts processes. The answer does not depend on other services, since a restart would not fix
those: see [ready](#getReady).`,
	response: z.object({ status: z.literal("ok").describe("The process answers.") }),
	errors: [],
	example: { response: { status: "ok" } },
};
