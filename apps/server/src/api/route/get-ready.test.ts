import { type ReadyResponse, readyResponseSchema, type SwapError } from "@geoswap/protocol";
import { pino } from "pino";
import { expect, test } from "vitest";
import { getReady, type ReadyCheck } from "./get-ready.ts";

const log = pino({ level: "silent" });

function ask(route: ReturnType<typeof getReady>): Promise<ReadyResponse> {
	if (route.operation !== undefined) throw new Error("ready needs no key");
	return route
		.handle({ body: undefined, query: {}, params: {}, requestId: "", log, onGone: () => {} })
		.then((answer) => readyResponseSchema.strict().parse(answer));
}
const ready = (...checks: ReadyCheck[]) =>
	ask(getReady({ checks, timeoutMs: 20, nowMs: () => performance.now() }));

const good: ReadyCheck = { name: "good", check: async () => undefined };
const wrong: ReadyCheck = { name: "wrong", check: async () => "it is upside down" };
const broken: ReadyCheck = {
	name: "broken",
	check: () => Promise.reject(new Error("connect http://user:secret@10.0.0.1")),
};
const silent: ReadyCheck = { name: "silent", check: () => new Promise(() => {}) };

test("if every check passes the process is ready, and the response lists the checks", async () => {
	expect(await ready(good, { ...good, name: "other" })).toEqual({
		status: "ready",
		checks: [
			{ name: "good", ready: true },
			{ name: "other", ready: true },
		],
	});
});

test("failed checks are named without the error's original text, and the process still takes requests", async () => {
	const answer = await ready(good, broken, wrong, silent);
	expect(answer).toEqual({
		status: "degraded",
		checks: [
			{ name: "good", ready: true },
			{ name: "broken", ready: false, problem: "it does not answer" },
			{ name: "wrong", ready: false, problem: "it is upside down" },
			{ name: "silent", ready: false, problem: "it does not answer" },
		],
	});
});

/** Creates a process with a database and three chains, all down at first; each request moves its clock by a second. */
function startingProcess() {
	const gone = new Set(["database", "one", "two", "three"]);
	let now = 0;
	const check = (name: string, neededAtStart: string): ReadyCheck => ({
		name,
		neededAtStart,
		check: async () => (gone.has(name) ? "gone" : undefined),
	});
	const route = getReady({
		checks: [
			check("database", "database"),
			...["one", "two", "three"].map((name) => check(name, "prices")),
			wrong,
		],
		nowMs: () => now,
	});
	/** Returns the names that are down, under `up` if this process should get requests, otherwise under `down`. */
	const answer = async () => {
		now += 1_000;
		try {
			const { checks } = await ask(route);
			return { up: checks.flatMap((each) => (each.problem === "gone" ? [each.name] : [])) };
		} catch (error) {
			expect(error).toMatchObject({ code: "UPSTREAM_UNAVAILABLE", retryable: true });
			const { upstream, notReady } = (error as SwapError<"UPSTREAM_UNAVAILABLE">).details;
			expect(upstream).toBe(notReady?.[0]?.name);
			return { down: notReady?.map(({ name }) => name) };
		}
	};
	return { gone, answer };
}

test("a starting process is not ready until the database and the prices of a chain are available", async () => {
	const { gone, answer } = startingProcess();
	expect(await answer()).toEqual({ down: ["database", "one", "two", "three"] });
	gone.delete("database");
	for (let i = 0; i < 30; i++) expect(await answer()).toEqual({ down: ["one", "two", "three"] });
	gone.clear();
	expect(await answer()).toEqual({ up: [] });
});

test("a starting process waits at most ten seconds for a chain that does not respond while the others do", async () => {
	const { gone, answer } = startingProcess();
	gone.clear();
	gone.add("two");
	for (let i = 0; i < 10; i++) expect(await answer()).toEqual({ down: ["two"] });
	expect(await answer()).toEqual({ up: ["two"] });
});

test("once ready, a process stays up regardless of failures, even of the database and every chain", async () => {
	const { gone, answer } = startingProcess();
	gone.clear();
	expect(await answer()).toEqual({ up: [] });
	gone.add("two");
	expect(await answer()).toEqual({ up: ["two"] });
	for (const name of ["database", "one", "three"]) gone.add(name);
	for (let i = 0; i < 30; i++) expect(await answer()).toEqual({ up: ["database", "one", "two", "three"] });
});

test("concurrent calls share one round of checks, and its results are reused for a quarter of a second", async () => {
	let rounds = 0;
	let now = 0;
	const check = async () => {
		rounds++;
		await new Promise(setImmediate);
		return undefined;
	};
	const route = getReady({ checks: [{ name: "counted", check }], nowMs: () => now });
	await Promise.all(Array.from({ length: 1_000 }, () => ask(route)));
	for (let i = 0; i < 1_000; i++) await ask(route);
	now = 249;
	await ask(route);
	expect(rounds).toBe(1);
	now = 250;
	await Promise.all(Array.from({ length: 100 }, () => ask(route)));
	expect(rounds).toBe(2);
});

test("a stopping process is reported immediately, even after a successful check or while a check hangs", async () => {
	for (const checks of [[good], [silent]]) {
		const stopping = new AbortController();
		const route = getReady({ checks, stopping: stopping.signal, timeoutMs: 20, nowMs: () => 0 });
		await ask(route);
		stopping.abort();
		await expect(ask(route)).rejects.toMatchObject({
			details: { upstream: "this process", notReady: [{ name: "this process", problem: "it is stopping" }] },
		});
	}
});

test("problems are logged when they begin and end, not at every check", async () => {
	const lines: string[] = [];
	const changing = { name: "changing", problem: undefined as string | undefined };
	let now = 0;
	const route = getReady({
		checks: [{ name: changing.name, check: async () => changing.problem }],
		nowMs: () => now,
	});
	if (route.operation !== undefined) throw new Error("ready needs no key");
	const sink = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
	const round = async (problem?: string) => {
		changing.problem = problem;
		now += 1_000;
		await Promise.allSettled([
			route.handle({ body: undefined, query: {}, params: {}, requestId: "", log: sink, onGone: () => {} }),
		]);
	};
	for (let i = 1; i <= 5; i++) await round(`for ${i} s`);
	await round();
	await round();
	expect(lines).toEqual(["not everything is ready", "everything is ready"]);
});
