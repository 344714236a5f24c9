/**
 * What our code sees of the engine. Workflow and lane code takes this and nothing else of it, so that a simulator can
 * run the same code.
 */
export type Durable = {
	/**
	 * Runs once and remembers its result. After a crash the body may run again: it must be safe to repeat. Results are
	 * JSON; bigints are kept.
	 */
	step: <T>(name: string, run: () => Promise<T>) => Promise<T>;
	/** A new signal of this execution. Its id can be stored; whoever has the id can raise it, before or after `wait`. */
	newSignal: () => Promise<Signal>;
	sleep: (ms: number) => Promise<void>;
	/** Asks an object's handler to run, later if so told. Requests with one `dedupeKey` run once. */
	poke: (target: PokeTarget, options?: PokeOptions) => Promise<void>;
};

type Signal = { id: string; wait: (timeoutMs: number) => Promise<"signalled" | "timeout"> };

/** A durable object's handler that takes no argument: everything it needs is in the store. */
export type PokeTarget = { object: "lane" | "attestation"; key: string };
export type PokeOptions = { delayMs?: number; dedupeKey?: string };
/**
 * A poke made ready. It is made in a step: one that was made of the configuration outside of it could differ when the
 * execution is replayed, and an execution that asks for something else than it did is stuck.
 */
export type PreparedPoke = { target: PokeTarget; options: PokeOptions };

/** What processes outside an execution can ask of the engine. */
export type Engine = {
	/** Starts an execution of the swap's workflow, the first unless told. Does nothing where it was started before. */
	startSwap: (swapUuid: string, execution?: number) => Promise<void>;
	/** Wakes whoever waits for the signal. Does nothing where nobody does any more. */
	raise: (signalId: string) => Promise<void>;
	poke: (target: PokeTarget, options?: PokeOptions) => Promise<void>;
};

/** `execution` counts those of one swap, from 0: each goes on from the facts where the one before was ended. */
export type SwapExecution = (durable: Durable, swapUuid: string, execution?: number) => Promise<void>;
export type ObjectExecution = (durable: Durable, key: string) => Promise<void>;
