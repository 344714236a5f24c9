import type {
	Durable,
	Engine,
	ObjectExecution,
	PokeOptions,
	PokeTarget,
	SwapExecution,
} from "../src/durable/durable.ts";
import { journalSerde } from "../src/durable/journal-serde.ts";
import { parseSwapKey, swapKey } from "../src/durable/swap-key.ts";
import type { Scheduler, Timer } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { never, type SimProcess } from "./sim-process.ts";

/** How a call to the engine goes wrong: nothing happens, and nobody is told; or it happens twice. */
export type SignalFault = "lost" | "doubled" | undefined;

type Handlers = { swap: SwapExecution; lane: ObjectExecution; attestation: ObjectExecution };

/**
 * The engine, on the world's clock. It never forgets what it has taken: executions are replayed from their journals on
 * whichever worker lives, timers ring, objects run one pump at a time for each key.
 */
export type SimEngine = {
	/** A worker that is there to run executions, until it dies. */
	serve: (process: SimProcess, handlers: Handlers) => void;
	/** What a process asks of the engine. */
	engineOf: (process: SimProcess) => Engine;
	/** Executions that have not ended, and pumps that are still to come. */
	unfinished: () => string[];
	/** Executions that asked for something else than what their journals say. */
	mismatches: string[];
	/** Remembers everything, in place of what was remembered before. */
	backUp: () => void;
	restore: () => void;
};

type Entry =
	| { type: "step"; name: string; result: Uint8Array }
	| { type: "signal"; id: string }
	/** Ends when the signal is raised or its time is over; without a signal by time alone. */
	| { type: "wait"; signalId: string | undefined; untilMs: number; outcome?: "signalled" | "timeout" }
	| { type: "poke"; target: string };

type Invocation = {
	id: string;
	service: keyof Handlers;
	key: string;
	journal: Entry[];
	failures: number;
	/** Of those that were given up: their continuations are never heard of again. */
	attempt: number;
	dedupeKey?: string | undefined;
	isDone: boolean;
};

type State = {
	invocations: Map<string, Invocation>;
	/** By object and key: who waits for its turn; the first has it. */
	queues: Map<string, string[]>;
	/** Pokes of a while ago, and until when they count. */
	dedupe: Map<string, number>;
	delayed: Map<number, { target: PokeTarget; dedupeKey: string | undefined; atMs: number }>;
	raised: Set<string>;
	/** Swaps that ran, and when they are forgotten. */
	endedSwaps: Map<string, number>;
	count: number;
};

const retry = { leastMs: 50, mostMs: 5_000 };
const dedupeMs = 30_000;
const swapRetentionMs = 660_000;
/** Until a worker's end is noticed. */
const noticeMs = 500;

export function createSimEngine({
	scheduler,
	random,
	signalFault = () => undefined,
	onRun,
	/** How often an execution that is woken goes through its journal again, as one that was put to sleep does. */
	replayChance = 0.05,
}: {
	scheduler: Scheduler;
	random: SeededRandom;
	signalFault?: () => SignalFault;
	onRun?: (line: string) => void;
	replayChance?: number;
}): SimEngine {
	let state: State = emptyState();
	let backup: State = emptyState();
	/** What was running before a restore is of another world. */
	let era = 0;
	const workers: { process: SimProcess; handlers: Handlers }[] = [];
	const waiters = new Map<string, (outcome: "signalled" | "timeout") => void>();
	const idle: Invocation[] = [];
	const mismatches: string[] = [];

	function start(service: keyof Handlers, key: string, dedupeKey?: string): void {
		const id = `inv-${++state.count}`;
		const invocation: Invocation = {
			...{ id, service, key, journal: [], failures: 0, attempt: 0, dedupeKey, isDone: false },
		};
		state.invocations.set(id, invocation);
		if (service === "swap") {
			dispatch(invocation);
			return;
		}
		const queueKey = `${service}/${key}`;
		const queue = state.queues.get(queueKey) ?? [];
		queue.push(id);
		state.queues.set(queueKey, queue);
		if (queue.length === 1) dispatch(invocation);
	}

	function later(ms: number, invocation: Invocation): void {
		const now = era;
		const { attempt } = invocation;
		scheduler.in(ms, `engine runs ${invocation.service} ${invocation.key}`, () => {
			if (now === era && attempt === invocation.attempt && !invocation.isDone) run(invocation);
		});
	}

	function dispatch(invocation: Invocation): void {
		later(random.between(0, 2), invocation);
	}

	function run(invocation: Invocation): void {
		const alive = workers.filter(({ process }) => process.isAlive());
		if (alive.length === 0) {
			idle.push(invocation);
			return;
		}
		const { process, handlers } = random.pick(alive);
		const attempt = ++invocation.attempt;
		const isCurrent = () => attempt === invocation.attempt;
		const again = (ms: number) => {
			invocation.attempt++;
			later(ms, invocation);
		};
		const forget = process.onDeath(() => {
			if (isCurrent() && !invocation.isDone) again(random.between(10, noticeMs));
		});
		const fail = () => {
			if (!isCurrent()) return;
			const pauseMs = Math.min(retry.mostMs, retry.leastMs * 2 ** Math.min(invocation.failures++, 10));
			again(pauseMs);
		};
		const durable = durableOf(invocation, { process, isCurrent, fail, again });
		const { service, key } = invocation;
		const { swapUuid, execution } = parseSwapKey(key);
		process.touch(`${service} begins`);
		if (!process.isAlive()) return;
		const running =
			service === "swap" ? handlers.swap(durable, swapUuid, execution) : handlers[service](durable, key);
		running.then(
			() => {
				forget();
				if (isCurrent() && process.isAlive()) end(invocation);
			},
			(error: unknown) => {
				onRun?.(`${service} ${key} threw ${String(error)}`);
				if (process.isAlive()) fail();
			},
		);
	}

	function end(invocation: Invocation): void {
		const { id, service, key, dedupeKey } = invocation;
		invocation.isDone = true;
		state.invocations.delete(id);
		if (service === "swap") {
			state.endedSwaps.set(key, scheduler.nowMs() + swapRetentionMs);
			return;
		}
		if (dedupeKey !== undefined) state.dedupe.set(dedupeKey, scheduler.nowMs() + dedupeMs);
		const queue = state.queues.get(`${service}/${key}`);
		queue?.shift();
		const [next] = queue ?? [];
		const invocationNext = next === undefined ? undefined : state.invocations.get(next);
		if (invocationNext) dispatch(invocationNext);
	}

	function durableOf(
		invocation: Invocation,
		attempt: {
			process: SimProcess;
			isCurrent: () => boolean;
			fail: () => void;
			again: (ms: number) => void;
		},
	): Durable {
		const { journal, id } = invocation;
		const { process, isCurrent, fail, again } = attempt;
		let next = 0;

		/** The entry that this attempt comes to, if an earlier one was there before. */
		function replayed<T extends Entry["type"]>(
			type: T,
			name?: string,
		): Extract<Entry, { type: T }> | undefined {
			const entry = journal[next++];
			if (!entry) return undefined;
			const isSame = entry.type === type && (entry.type !== "step" || entry.name === name);
			if (!isSame) {
				mismatches.push(`${invocation.service} ${invocation.key}: entry ${next} is another than before`);
				throw new Error("the journal has another entry here");
			}
			return entry as Extract<Entry, { type: T }>;
		}

		async function wait(signalId: string | undefined, ms: number): Promise<"signalled" | "timeout"> {
			if (!isCurrent()) return never();
			const before = replayed("wait");
			const entry: Extract<Entry, { type: "wait" }> = before ?? {
				type: "wait",
				signalId,
				untilMs: scheduler.nowMs() + ms,
			};
			if (!before) journal.push(entry);
			if (entry.outcome) return entry.outcome;
			if (signalId !== undefined && state.raised.has(signalId)) {
				entry.outcome = "signalled";
				return entry.outcome;
			}
			const outcome = await new Promise<"signalled" | "timeout">((resolve) => {
				const timer: Timer = scheduler.in(
					entry.untilMs - scheduler.nowMs(),
					`timer of ${invocation.service} ${invocation.key}`,
					() => {
						if (isCurrent()) resolve("timeout");
					},
				);
				if (signalId !== undefined) {
					waiters.set(signalId, () => {
						timer.cancel();
						resolve("signalled");
					});
				}
			});
			if (!isCurrent() || !process.isAlive()) return never();
			if (signalId !== undefined) waiters.delete(signalId);
			entry.outcome = outcome;
			process.touch("woken");
			if (!process.isAlive()) return never();
			if (random.chance(replayChance)) {
				again(0);
				return never();
			}
			return outcome;
		}

		return {
			step: async <T>(name: string, body: () => Promise<T>) => {
				if (!isCurrent()) return never();
				const before = replayed("step", name);
				if (before) return journalSerde.deserialize(before.result) as T;
				let value: T;
				try {
					value = await body();
				} catch (error) {
					if (!process.isAlive() || !isCurrent()) return never();
					onRun?.(
						`${process.name}: ${invocation.service} ${invocation.key} ${name} failed: ${lineOf(error)}`,
					);
					fail();
					return never();
				}
				process.touch(`${name} done`);
				if (!process.isAlive() || !isCurrent()) return never();
				const result = journalSerde.serialize(value);
				journal.push({ type: "step", name, result });
				invocation.failures = 0;
				process.touch(`${name} journalled`);
				if (!process.isAlive()) return never();
				return journalSerde.deserialize(result) as T;
			},
			newSignal: async () => {
				const before = replayed("signal");
				const entry = before ?? { type: "signal", id: `sign-${id}-${journal.length}` };
				if (!before) journal.push(entry);
				return { id: entry.id, wait: (timeoutMs) => wait(entry.id, timeoutMs) };
			},
			sleep: async (ms) => {
				await wait(undefined, ms);
			},
			poke: async (target, options) => {
				if (!isCurrent()) return never();
				const name = `${target.object}/${target.key}`;
				if (replayed("poke")) return;
				journal.push({ type: "poke", target: name });
				poke(target, options);
			},
		};
	}

	function poke(target: PokeTarget, { delayMs = 0, dedupeKey: given }: PokeOptions = {}): void {
		const dedupeKey = given === undefined ? undefined : `${target.object}/${target.key}/${given}`;
		if (dedupeKey !== undefined) {
			if ((state.dedupe.get(dedupeKey) ?? 0) > scheduler.nowMs()) return;
			// Until it has run, and a while after.
			state.dedupe.set(dedupeKey, Number.POSITIVE_INFINITY);
		}
		if (delayMs === 0) {
			start(target.object, target.key, dedupeKey);
			return;
		}
		const number = ++state.count;
		state.delayed.set(number, { target, dedupeKey, atMs: scheduler.nowMs() + delayMs });
		ring(number);
	}

	function ring(number: number): void {
		const now = era;
		const poke = state.delayed.get(number);
		if (!poke) return;
		const { target, dedupeKey, atMs } = poke;
		scheduler.in(atMs - scheduler.nowMs(), `poke of ${target.object} ${target.key}`, () => {
			if (now !== era || !state.delayed.delete(number)) return;
			start(target.object, target.key, dedupeKey);
		});
	}

	function startSwap(swapUuid: string, execution = 0): void {
		const key = swapKey({ swapUuid, execution });
		if ((state.endedSwaps.get(key) ?? 0) > scheduler.nowMs()) return;
		for (const { service, key: other } of state.invocations.values()) {
			if (service === "swap" && other === key) return;
		}
		start("swap", key);
	}

	function raise(signalId: string): void {
		const [, invocationId = ""] = /^sign-(inv-\d+)-/.exec(signalId) ?? [];
		if (!state.invocations.has(invocationId) || state.raised.has(signalId)) return;
		state.raised.add(signalId);
		waiters.get(signalId)?.("signalled");
	}

	return {
		mismatches,
		serve: (process, handlers) => {
			workers.push({ process, handlers });
			process.onDeath(() => {
				workers.splice(
					workers.findIndex((worker) => worker.process === process),
					1,
				);
			});
			for (const invocation of idle.splice(0)) dispatch(invocation);
		},
		engineOf: (process) => {
			const ask = async (what: string, act: () => void): Promise<void> => {
				process.touch(what);
				await process.hear(scheduler.sleep(random.between(0, 3), `${process.name} ${what}`));
				const fault = signalFault();
				if (fault !== "lost") act();
				if (fault === "doubled") scheduler.in(random.between(1, 2_000), `${what} again`, act);
				process.touch(`${what} answered`);
				if (!process.isAlive()) await never();
			};
			return {
				startSwap: (uuid, execution) => ask("start", () => startSwap(uuid, execution)),
				raise: (signalId) => ask("raise", () => raise(signalId)),
				poke: (target, options) => ask("poke", () => poke(target, options)),
			};
		},
		unfinished: () => [
			...[...state.invocations.values()].map(({ service, key }) => `${service} ${key}`),
			...[...state.delayed.values()].map(({ target }) => `poke of ${target.object} ${target.key}`),
		],
		backUp: () => {
			backup = copyOf(state);
		},
		restore: () => {
			era++;
			for (const invocation of state.invocations.values()) invocation.attempt += 1_000_000;
			state = copyOf(backup);
			waiters.clear();
			idle.length = 0;
			for (const invocation of state.invocations.values()) {
				const queue = state.queues.get(`${invocation.service}/${invocation.key}`);
				if (invocation.service === "swap" || queue?.[0] === invocation.id) dispatch(invocation);
			}
			for (const number of state.delayed.keys()) ring(number);
		},
	};
}

function emptyState(): State {
	return {
		invocations: new Map(),
		queues: new Map(),
		dedupe: new Map(),
		delayed: new Map(),
		raised: new Set(),
		endedSwaps: new Map(),
		count: 0,
	};
}

function copyOf(state: State): State {
	return {
		...state,
		invocations: new Map(
			[...state.invocations].map(([id, invocation]) => [
				id,
				{ ...invocation, journal: invocation.journal.map((entry) => ({ ...entry })) },
			]),
		),
		queues: new Map([...state.queues].map(([key, queue]) => [key, [...queue]])),
		dedupe: new Map(state.dedupe),
		delayed: new Map(state.delayed),
		raised: new Set(state.raised),
		endedSwaps: new Map(state.endedSwaps),
	};
}

function lineOf(error: unknown): string {
	return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}
