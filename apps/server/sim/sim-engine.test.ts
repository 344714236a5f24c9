import { expect, test } from "vitest";
import type { Durable } from "../src/durable/durable.ts";
import { createScheduler } from "./scheduler.ts";
import { seededRandom } from "./seeded-random.ts";
import { createSimEngine } from "./sim-engine.ts";
import { createSimProcess } from "./sim-process.ts";

type Run = (durable: Durable, key: string) => Promise<void>;

const nothing: Run = async () => {};

/** An engine with one worker that runs this, and a client of it. */
function scene(handlers: { swap?: Run; lane?: Run }, { replayChance = 0 } = {}) {
	const scheduler = createScheduler({ startMs: 0 });
	const engine = createSimEngine({ scheduler, random: seededRandom(1), replayChance });
	const start = (name: string) => {
		const process = createSimProcess({ name });
		engine.serve(process, { swap: nothing, lane: nothing, attestation: nothing, ...handlers });
		return process;
	};
	const client = engine.engineOf(createSimProcess({ name: "client" }));
	const pass = (ms: number) => scheduler.runUntil(() => false, scheduler.nowMs() + ms);
	return { scheduler, engine, start, client, pass };
}

test("a step that was journalled does not run again when its worker dies, and one that was not does", async () => {
	const ran: string[] = [];
	const { start, client, pass, scheduler, engine } = scene({
		swap: async (durable) => {
			await durable.step("first", async () => void ran.push("first"));
			await durable.step("second", async () => {
				ran.push("second");
				await scheduler.sleep(1_000, "work");
			});
		},
	});
	const worker = start("one");
	void client.startSwap("uuid");
	await pass(500);
	worker.die();
	await pass(1_000);
	expect(ran).toEqual(["first", "second"]);
	start("two");
	await pass(5_000);
	expect(ran).toEqual(["first", "second", "second"]);
	expect(engine.unfinished()).toEqual([]);
});

test("a step that throws is tried again, later and later, until it works", async () => {
	const at: number[] = [];
	const { start, client, pass, scheduler } = scene({
		swap: (durable) =>
			durable.step("tried", async () => {
				at.push(scheduler.nowMs());
				if (at.length < 12) throw new Error("not yet");
			}),
	});
	start("one");
	void client.startSwap("uuid");
	await pass(60_000);
	const pauses = at.slice(1).map((ms, i) => ms - (at[i] ?? 0));
	expect(pauses).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000]);
});

test("a signal counts before the wait and after it, across a crash, and a wait ends by its first timeout", async () => {
	const waits: string[] = [];
	const ids: string[] = [];
	const { start, client, pass, scheduler } = scene({
		swap: async (durable) => {
			const early = await durable.newSignal();
			await durable.step("told", async () => {
				await client.raise(early.id);
			});
			waits.push(await early.wait(1_000));
			const late = await durable.newSignal();
			await durable.step("told again", async () => void ids.push(late.id));
			waits.push(await late.wait(100_000));
			waits.push(
				`${await (await durable.newSignal()).wait(10_000)} at ${Math.round(scheduler.nowMs() / 1_000)}`,
			);
		},
	});
	const worker = start("one");
	void client.startSwap("uuid");
	await pass(1_000);
	worker.die();
	void client.raise(ids[0] ?? "");
	await pass(1_000);
	start("two");
	await pass(5_000);
	expect(waits).toEqual(["signalled", "signalled", "signalled"]);
	await pass(20_000);
	expect(waits.at(-1)).toBe("timeout at 12");
});

test("pumps of one key run one at a time, those of one dedupe key once, and none is forgotten", async () => {
	let running = 0;
	const ran: string[] = [];
	const { start, client, pass, scheduler } = scene({
		lane: (durable, key) =>
			durable.step("pumped", async () => {
				running++;
				expect(running).toBe(1);
				await scheduler.sleep(100, "work");
				running--;
				ran.push(key);
			}),
	});
	start("one");
	const lane = { object: "lane", key: "a" } as const;
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

test("set back, it runs again what had not run by then, and no timer of after it rings", async () => {
	const ran: string[] = [];
	const { start, client, pass, engine } = scene({
		swap: async (durable, key) => {
			await durable.step("began", async () => void ran.push(`${key} began`));
			await durable.sleep(5_000);
			await durable.step("ended", async () => void ran.push(`${key} ended`));
		},
	});
	start("one");
	void client.startSwap("a");
	await pass(1_000);
	engine.backUp();
	void client.startSwap("b");
	await pass(1_000);
	engine.restore();
	await pass(20_000);
	expect(ran).toEqual(["a began", "b began", "a ended"]);
	expect(engine.unfinished()).toEqual([]);
});

test("an execution that asks for something else than its journal says is found", async () => {
	let times = 0;
	const { start, client, pass, engine } = scene(
		{
			swap: async (durable) => {
				await durable.step(`step ${times++ > 0}`, async () => {});
				await durable.sleep(1_000);
			},
		},
		{ replayChance: 1 },
	);
	start("one");
	void client.startSwap("a");
	await pass(3_000);
	expect(engine.mismatches[0]).toContain("entry 1 is another than before");
});
