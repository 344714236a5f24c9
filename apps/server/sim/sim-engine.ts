import type { Engine, PokeOptions, PokeTarget } from "../src/durable/engine.ts";
import type { Handlers } from "../src/durable/serve-durable.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { never, type SimProcess } from "./sim-process.ts";

/** A fault of a poke: it is lost without an error, it arrives twice, or the engine does not answer. */
export type PokeFault = "lost" | "doubled" | "refused" | undefined;

/**
 * The engine on the world's clock. It has objects that run one handler at a time per key, on one of the workers. A
 * handler that throws is retried, with growing delays. A handler whose worker died blocks all others of its key, as the
 * real engine retries it at an address where no process listens, until the next worker that starts removes that
 * address.
 */
export type SimEngine = {
	/** Registers a worker that runs handlers until it dies. Removes handlers that are stuck at a dead worker. */
	serve: (process: SimProcess, handlers: Handlers) => void;
	/** Returns the engine's client for a process. */
	engineOf: (process: SimProcess) => Engine;
	/** Returns handlers that have not ended, and pokes that are still to come. */
	unfinished: () => string[];
	/** Forgets everything, as if its data were lost or restored. */
	wipe: () => void;
};

type Invocation = { target: PokeTarget; failures: number; dedupeKey: string | undefined; isStuck: boolean };

const retry = { minMs: 50, maxMs: 5_000 };
const dedupeMs = 30_000;

export function createSimEngine({
	scheduler,
	random,
	pokeFault = () => undefined,
	isDown = () => false,
	onRun,
}: {
	scheduler: Scheduler;
	random: SeededRandom;
	pokeFault?: () => PokeFault;
	/** Returns true while the engine runs nothing and answers no call. */
	isDown?: () => boolean;
	onRun?: (line: string) => void;
}): SimEngine {
	let workers: { process: SimProcess; handlers: Handlers }[] = [];
	/** Queues of handlers by object and key; the first of each queue has its turn. */
	let queues = new Map<string, Invocation[]>();
	/** Dedupe keys, and the time until which they count. */
	let dedupe = new Map<string, number>();
	let delayed = new Set<string>();
	/** Counts how often everything was forgotten. The result of a handler of an earlier era is ignored. */
	let era = 0;

	function start(target: PokeTarget, dedupeKey: string | undefined): void {
		const queue = queues.get(nameOf(target)) ?? [];
		queues.set(nameOf(target), queue);
		queue.push({ target, failures: 0, dedupeKey, isStuck: false });
		if (queue.length === 1) runFirst(nameOf(target), random.between(0, 2));
	}

	function runFirst(name: string, inMs: number): void {
		const now = era;
		scheduler.in(inMs, `engine runs ${name}`, () => {
			const [invocation] = queues.get(name) ?? [];
			if (now === era && invocation && !invocation.isStuck) run(name, invocation);
		});
	}

	function run(name: string, invocation: Invocation): void {
		const again = () => {
			const pauseMs = Math.min(retry.maxMs, retry.minMs * 2 ** Math.min(invocation.failures++, 10));
			runFirst(name, pauseMs);
		};
		// The newest worker runs everything, if it is alive.
		const newest = workers.at(-1);
		if (isDown() || !newest?.process.isAlive()) {
			again();
			return;
		}
		const { process, handlers } = newest;
		const now = era;
		const { object, key } = invocation.target;
		process.touch(`${object} begins`);
		const isOurs = () => now === era && !invocation.isStuck;
		const stick = () => {
			invocation.isStuck = true;
		};
		if (!process.isAlive()) {
			stick();
			return;
		}
		const forget = process.onDeath(stick);
		handlers[object](key).then(
			() => {
				forget();
				if (isOurs() && process.isAlive()) end(name, invocation);
			},
			(error: unknown) => {
				forget();
				onRun?.(`${process.name}: ${name} threw ${String(error).split("\n")[0]}`);
				if (isOurs() && process.isAlive()) again();
			},
		);
	}

	function end(name: string, { dedupeKey }: Pick<Invocation, "dedupeKey">): void {
		if (dedupeKey !== undefined) dedupe.set(dedupeKey, scheduler.nowMs() + dedupeMs);
		const queue = queues.get(name) ?? [];
		queue.shift();
		if (queue.length > 0) runFirst(name, random.between(0, 2));
		else queues.delete(name);
	}

	function poke(target: PokeTarget, { delayMs = 0, dedupeKey: given }: PokeOptions = {}): void {
		const dedupeKey = given === undefined ? undefined : `${nameOf(target)}/${given}`;
		if (dedupeKey !== undefined) {
			if ((dedupe.get(dedupeKey) ?? 0) > scheduler.nowMs()) return;
			// The key counts until the handler has run, and a while after.
			dedupe.set(dedupeKey, Number.POSITIVE_INFINITY);
		}
		if (delayMs === 0) {
			start(target, dedupeKey);
			return;
		}
		const now = era;
		const name = `poke of ${nameOf(target)} at ${scheduler.nowMs() + delayMs}`;
		delayed.add(name);
		scheduler.in(delayMs, `poke of ${nameOf(target)}`, () => {
			if (now !== era) return;
			delayed.delete(name);
			start(target, dedupeKey);
		});
	}

	return {
		serve: (process, handlers) => {
			workers = [...workers.filter((worker) => worker.process.isAlive()), { process, handlers }];
			for (const [name, [first]] of queues) if (first?.isStuck) end(name, first);
		},
		engineOf: (process) => ({
			poke: async (target, options) => {
				const what = `pokes ${target.object}`;
				process.touch(what);
				await process.hear(scheduler.sleep(random.between(0, 3), `${process.name} ${what}`));
				const fault = isDown() ? "refused" : pokeFault();
				const act = () => poke(target, options);
				if (fault === undefined || fault === "doubled") act();
				if (fault === "doubled") scheduler.in(random.between(1, 2_000), `${what} again`, act);
				process.touch(`${what} answered`);
				if (!process.isAlive()) await never();
				if (fault === "refused") throw new Error("the engine does not answer");
			},
		}),
		unfinished: () => [...[...queues].flatMap(([name, queue]) => queue.map(() => name)), ...delayed],
		wipe: () => {
			era++;
			queues = new Map();
			dedupe = new Map();
			delayed = new Set();
		},
	};
}

function nameOf({ object, key }: PokeTarget): string {
	return `${object}/${key}`;
}
