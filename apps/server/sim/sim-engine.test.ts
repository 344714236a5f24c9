import { expect, test } from "vitest";
import type { Handler } from "../src/durable/engine.ts";
import { createScheduler } from "./scheduler.ts";
import { seededRandom } from "./seeded-random.ts";
import { createSimEngine } from "./sim-engine.ts";
import { createSimProcess } from "./sim-process.ts";

const lane = { object: "lane", key: "a" } as const;

/** Creates an engine whose workers run this handler, and a client of it. */
function scene(handler: Handler, options: { isDown?: () => boolean } = {}) {
	const scheduler = createScheduler({ startMs: 0 });
	const engine = createSimEngine({ scheduler, random: seededRandom(1), ...options });
	const start = (name: string) => {
		const process = createSimProcess({ name });
		engine.serve(process, { round: handler, lane: handler, attestation: handler, crossCheck: handler });
		return process;
	};
	const client = engine.engineOf(createSimProcess({ name: "client" }));
	const pass = (ms: number) => scheduler.runUntil(() => false, scheduler.nowMs() + ms);
	return { scheduler, engine, start, client, pass };
}

test("after a worker dies no handler runs until the next worker starts, and then all of them do", async () => {
	const began: string[] = [];
	const { start, client, pass, engine } = scene(async (key) => {
		began.push(key);
		if (began.length === 1) await new Promise(() => {});
	});
	start("standby");
	const worker = start("newest");
	void client.poke(lane);
	await pass(500);
	worker.die();
	void client.poke(lane);
	void client.poke({ object: "lane", key: "b" });
	await pass(60_000);
	expect(began).toEqual(["a"]);
	start("next");
	await pass(6_000);
	expect(began.toSorted()).toEqual(["a", "a", "b"]);
	expect(engine.unfinished()).toEqual([]);
});

test("a handler that throws is retried with growing delays until it works", async () => {
	const at: number[] = [];
	const { start, client, pass, scheduler } = scene(async () => {
		at.push(scheduler.nowMs());
		if (at.length < 12) throw new Error("not yet");
	});
	start("one");
	void client.poke(lane);
	await pass(60_000);
	expect(at).toHaveLength(12);
	expect((at[1] ?? 0) - (at[0] ?? 0)).toBe(50);
	expect((at[11] ?? 0) - (at[10] ?? 0)).toBe(5_000);
});

test("handlers of one key run one at a time, and a dedupe key runs once until it expires", async () => {
	let running = 0;
	const ran: string[] = [];
	const { start, client, pass, scheduler } = scene(async (key) => {
		running++;
		expect(running).toBe(1);
		await scheduler.sleep(100, "work");
		running--;
		ran.push(key);
	});
	start("one");
	void client.poke(lane);
	void client.poke(lane);
	void client.poke(lane, { dedupeKey: "x", delayMs: 50 });
	void client.poke(lane, { dedupeKey: "x" });
	await pass(5_000);
	expect(ran).toEqual(["a", "a", "a"]);
	void client.poke(lane, { dedupeKey: "x" });
	await pass(40_000);
	expect(ran).toHaveLength(3);
	void client.poke(lane, { dedupeKey: "x" });
	await pass(5_000);
	expect(ran).toHaveLength(4);
});

test("an engine that is down refuses pokes and runs nothing, and resumes afterwards", async () => {
	let isDown = false;
	const ran: string[] = [];
	const { start, client, pass } = scene(async (key) => void ran.push(key), { isDown: () => isDown });
	start("one");
	void client.poke(lane, { delayMs: 100 });
	await pass(50);
	isDown = true;
	const refused = expect(client.poke(lane)).rejects.toThrow("does not answer");
	await pass(1_000);
	await refused;
	expect(ran).toEqual([]);
	isDown = false;
	await pass(6_000);
	expect(ran).toEqual(["a"]);
});

test("an engine that lost its data runs no earlier poke", async () => {
	const ran: string[] = [];
	const { start, client, pass, engine } = scene(async (key) => void ran.push(key));
	void client.poke(lane, { delayMs: 1_000 });
	void client.poke({ object: "lane", key: "b" });
	await pass(100);
	engine.wipe();
	start("one");
	await pass(20_000);
	expect(ran).toEqual([]);
	expect(engine.unfinished()).toEqual([]);
});
