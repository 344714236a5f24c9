import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import {
	createEndpointHandler,
	type LoggerTransport,
	type ObjectContext,
	object,
	type RetryPolicy,
	handlers as restate,
	serde,
} from "@restatedev/restate-sdk";
import type { Log } from "../telemetry/log.ts";
import type { Engine, Handler, PokeTarget } from "./engine.ts";
import { quietError } from "./quiet-error.ts";

const noArgument = { input: serde.empty, output: serde.empty };
const objects: readonly PokeTarget["object"][] = ["round", "lane", "attestation", "crossCheck"];

export type DurableServer = { url: string; close: () => Promise<void> };

/**
 * Serves the objects that the engine calls. Each key of an object runs one handler at a time. Nothing is journalled,
 * so a handler that throws, or whose process dies, is run again from the store.
 */
export async function serveDurable({
	handlers,
	host,
	port,
	identityKeys,
	retryMaxMs,
	log,
}: {
	handlers: Handlers;
	host: string;
	port: number;
	/**
	 * Public keys of the engine, `publickeyv1_…`. Every request but `/health` must be signed by one of them, or is
	 * answered with 401. Without keys, anyone who reaches the port can run the handlers.
	 */
	identityKeys: readonly string[];
	/** The maximum pause between two tries. */
	retryMaxMs: Milliseconds;
	log: Log;
}): Promise<DurableServer> {
	const options = {
		retryPolicy: retryForever(retryMaxMs),
		// The engine takes over a run that hangs on a chain or the database before an operator would notice.
		inactivityTimeout: { minutes: 1 },
		abortTimeout: { minutes: 1 },
		journalRetention: 0,
		// Dedupe keys contain a time, so they are not used again later.
		idempotencyRetention: { seconds: 30 },
	};
	const services = objects.map((name) => {
		const run = restate.object.exclusive(noArgument, (ctx: ObjectContext) =>
			handlers[name](ctx.key).catch((error: unknown) => {
				throw quietError(error);
			}),
		);
		return object({ name, handlers: { run }, options });
	});
	const server = createServer(
		createEndpointHandler({ services, identityKeys: [...identityKeys], logger: toLog(log) }),
	);
	const sessions = new Set<{ destroy: () => void }>();
	server.on("session", (session) => {
		sessions.add(session);
		session.once("close", () => sessions.delete(session));
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, host, resolve);
	});
	return {
		url: `http://${host}:${(server.address() as AddressInfo).port}`,
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				// The engine holds its connections open. It will run elsewhere what is running on them.
				for (const session of sessions) session.destroy();
			}),
	};
}

/**
 * Returns a policy that retries without limit. By default the engine pauses an invocation after some failures, until
 * an operator resumes it.
 */
function retryForever(maxMs: Milliseconds): RetryPolicy {
	return {
		initialInterval: 50,
		exponentiationFactor: 2,
		maxInterval: maxMs,
		maxAttempts: 2 ** 31 - 1,
		onMaxAttempts: "pause",
	};
}

function toLog(log: Log): LoggerTransport {
	return ({ level, replaying, context }, ...message) => {
		if (replaying || (level !== "warn" && level !== "error")) return;
		const error = message.find((part) => part instanceof Error);
		const [problem, ...rest] = error?.stack?.split("\n") ?? [];
		log.warn(
			// Later lines of a message can contain an endpoint's address with its key.
			{ invocation: context?.invocationTarget, problem, at: rest.filter((line) => /^\s+at /.test(line)) },
			message.filter((part) => part !== error).join(" "),
		);
	};
}

export type SkippingEngine = Engine & {
	/** Replaces the handlers that are known to be overdue. */
	setOverdue: (targets: readonly PokeTarget[]) => void;
	isOverdue: (target: PokeTarget) => boolean;
};

/**
 * Milliseconds after which handlers are poked again. If the next tick hangs or fails, no tick here would run them.
 */
const believedMs = 2_000;

/**
 * Returns an engine that skips pokes of handlers that the last tick found overdue. A handler that hangs blocks every
 * later one of its key, and each poke would add one more. The tick runs such a handler itself.
 */
export function skipOverdue(engine: Engine, { nowMs }: { nowMs: () => Milliseconds }): SkippingEngine {
	let overdue = new Set<string>();
	let foundAtMs = 0;
	const isOverdue = (target: PokeTarget) => overdue.has(nameOf(target)) && nowMs() - foundAtMs <= believedMs;
	return {
		poke: async (target, options) => {
			if (!isOverdue(target)) await engine.poke(target, options);
		},
		setOverdue: (targets) => {
			overdue = new Set(targets.map(nameOf));
			foundAtMs = nowMs();
		},
		isOverdue,
	};
}

function nameOf({ object, key }: PokeTarget): string {
	return `${object}/${key}`;
}

export type Handlers = Record<PokeTarget["object"], Handler>;

export type TrackedHandlers = {
	handlers: Handlers;
	/** Returns whether this process is running the handler of that key. */
	isRunning: (target: PokeTarget) => boolean;
	/** Refuses new handlers from now on, and waits for running ones, at most `patienceMs`. */
	finish: (patienceMs: Milliseconds) => Promise<void>;
};

/** Tracks which handlers this process runs, regardless of what started them. */
export function trackHandlers(handlers: Handlers): TrackedHandlers {
	const running = new Map<string, Set<Promise<void>>>();
	let isFinishing = false;

	function tracked(object: PokeTarget["object"]): Handler {
		return async (key) => {
			if (isFinishing) throw new Error("this worker is stopping");
			const name = `${object}/${key}`;
			const run = handlers[object](key);
			const ofKey = running.get(name) ?? new Set();
			running.set(name, ofKey.add(run));
			try {
				await run;
			} finally {
				ofKey.delete(run);
				if (ofKey.size === 0) running.delete(name);
			}
		};
	}

	return {
		handlers: {
			round: tracked("round"),
			lane: tracked("lane"),
			attestation: tracked("attestation"),
			crossCheck: tracked("crossCheck"),
		},
		isRunning: ({ object, key }) => running.has(`${object}/${key}`),
		finish: async (patienceMs) => {
			isFinishing = true;
			const ending = Promise.allSettled([...running.values()].flatMap((runs) => [...runs]));
			const patience = new AbortController();
			await Promise.race([ending, sleep(patienceMs, undefined, { signal: patience.signal }).catch(() => {})]);
			patience.abort();
		},
	};
}
