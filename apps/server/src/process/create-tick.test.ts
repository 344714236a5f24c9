import { expect, test } from "vitest";
import { type Handlers, skipOverdue, trackHandlers } from "../durable/serve-durable.ts";
import { createLog } from "../telemetry/log.ts";
import { createTick } from "./create-tick.ts";
import type { DueOfChain, DueWork } from "./due-work.ts";

const log = createLog({ level: "silent", process: "test" });
const relayers = ["0x01", "0x0A"] as const;
const lanes = [
	{ chainId: 1, relayers, isAnyGood: true },
	{ chainId: 2, relayers, isAnyGood: false },
];

function chain(chainId: number, due: Partial<DueOfChain>): DueOfChain {
	return { chainId, jobs: "no", attestations: "no", hasQuestions: false, stuckRelayers: [], ...due };
}

function scene({ handler }: { handler?: () => Promise<void> } = {}) {
	const poked: string[] = [];
	const ran: string[] = [];
	let nowMs = 0;
	const handlerOf = (object: string) => async (key: string) => {
		ran.push(`${object}/${key}`);
		await handler?.();
	};
	const handlers: Handlers = {
		round: handlerOf("round"),
		lane: handlerOf("lane"),
		attestation: handlerOf("attestation"),
		crossCheck: handlerOf("crossCheck"),
	};
	let due: DueWork = { round: "no", chains: [] };
	let isDown = false;
	const engine = skipOverdue(
		{ poke: async ({ object, key }) => void poked.push(`${object}/${key}`) },
		{ nowMs: () => nowMs },
	);
	const tick = createTick({
		readDue: async () => {
			if (isDown) throw new Error("the database is down");
			return due;
		},
		lanes,
		engine,
		handlers: trackHandlers(handlers),
		nowMs: () => nowMs,
		log,
	});
	return {
		engine,
		poked,
		/** Advances the clock by a second, at which a tick fails. */
		failTick: async () => {
			isDown = true;
			nowMs += 1_000;
			await expect(tick()).rejects.toThrow("down");
			isDown = false;
		},
		/** Advances the clock by a second and runs one tick. */
		tick: async (now: Partial<DueWork>) => {
			due = { round: "no", chains: [], ...now };
			nowMs += 1_000;
			await tick();
			return { poked: poked.splice(0), ran: ran.splice(0) };
		},
	};
}

test("due work is poked, and work that has been due for two seconds runs in this process", async () => {
	const { tick } = scene();
	expect(await tick({})).toEqual({ poked: [], ran: [] });
	expect(await tick({ round: "due", chains: [chain(1, { attestations: "overdue" })] })).toEqual({
		poked: ["round/0"],
		ran: ["attestation/1"],
	});
	expect(await tick({ round: "overdue" })).toEqual({ poked: [], ran: ["round/0"] });
	expect(await tick({ chains: [chain(1, { attestations: "due" })] })).toEqual({
		poked: ["attestation/1"],
		ran: [],
	});
});

test("work that the last tick found overdue is not poked, and runs in this process until a tick finds it in time", async () => {
	const { tick, engine, poked } = scene();
	const pokeAll = async () => {
		await engine.poke({ object: "round", key: "0" });
		await engine.poke({ object: "attestation", key: "1" });
		return poked.splice(0);
	};
	await tick({ round: "overdue" });
	expect(await pokeAll()).toEqual(["attestation/1"]);
	expect(await tick({ round: "due" })).toEqual({ poked: [], ran: ["round/0"] });
	expect(await pokeAll()).toEqual(["round/0", "attestation/1"]);
	expect(await tick({ round: "due" })).toEqual({ poked: ["round/0"], ran: [] });
});

test("work that the last tick found overdue is poked again if the next ticks fail", async () => {
	const { tick, failTick, engine, poked } = scene();
	await tick({ round: "overdue" });
	await failTick();
	await engine.poke({ object: "round", key: "0" });
	expect(poked).toEqual([]);
	await failTick();
	await failTick();
	await engine.poke({ object: "round", key: "0" });
	expect(poked).toEqual(["round/0"]);
});

test("a lane that runs because of an unmined transaction is still poked", async () => {
	const { tick, engine, poked } = scene();
	for (let i = 0; i < 5; i++) await tick({ chains: [chain(1, { stuckRelayers: ["0x0a"] })] });
	await engine.poke({ object: "lane", key: "1:0x0a" });
	expect(poked).toEqual(["lane/1:0x0a"]);
});

test("a handler that runs for a long time in this process is still poked, because it does not hang in the engine", async () => {
	const { tick, engine, poked } = scene({ handler: () => new Promise<void>(() => {}) });
	await tick({ round: "overdue" });
	await tick({ round: "overdue" });
	await engine.poke({ object: "round", key: "0" });
	expect(poked).toEqual(["round/0"]);
});

test("jobs for any lane go to one lane after another, and jobs that name a lane go to all", async () => {
	const { tick } = scene();
	const chains = [chain(1, { jobs: "due" })];
	expect((await tick({ chains })).poked).toEqual(["lane/1:0x0a"]);
	expect((await tick({ chains })).poked).toEqual(["lane/1:0x01"]);
	const overdue = [chain(2, { jobs: "overdue" }), chain(3, { jobs: "overdue" })];
	expect((await tick({ chains: overdue })).ran).toEqual(["lane/2:0x01", "lane/2:0x0a"]);
});

test("a lane whose transaction is not mined is run every few seconds", async () => {
	const { tick } = scene();
	const ran: string[] = [];
	for (let i = 0; i < 10; i++) {
		ran.push(...(await tick({ chains: [chain(1, { stuckRelayers: ["0x0a"] })] })).ran);
	}
	expect(ran).toEqual(["lane/1:0x0a", "lane/1:0x0a"]);
});

test("a second provider that has not been queried for two seconds is queried from this process", async () => {
	const { tick } = scene();
	const chains = [chain(1, { hasQuestions: true })];
	expect(await tick({ chains })).toEqual({ poked: ["crossCheck/1"], ran: [] });
	expect(await tick({ chains })).toEqual({ poked: ["crossCheck/1"], ran: [] });
	expect(await tick({ chains })).toEqual({ poked: [], ran: ["crossCheck/1"] });
	await tick({});
	expect(await tick({ chains })).toEqual({ poked: ["crossCheck/1"], ran: [] });
});

test("a handler never runs twice concurrently in this process, and one that hangs delays no other", async () => {
	const { tick } = scene({ handler: () => new Promise<void>(() => {}) });
	const chains = [chain(1, { attestations: "overdue" })];
	expect((await tick({ chains })).ran).toEqual(["attestation/1"]);
	expect((await tick({ round: "overdue", chains })).ran).toEqual(["round/0"]);
});

test("a handler that fails in this process is retried at the next tick", async () => {
	const { tick } = scene({ handler: () => Promise.reject(new Error("no node")) });
	expect((await tick({ round: "overdue" })).ran).toEqual(["round/0"]);
	expect((await tick({ round: "overdue" })).ran).toEqual(["round/0"]);
});
