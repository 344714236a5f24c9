import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import {
	type Context,
	createEndpointHandler,
	handlers,
	type LoggerTransport,
	type ObjectContext,
	object,
	type RetryPolicy,
	serde,
	TimeoutError,
	type WorkflowContext,
	workflow,
} from "@restatedev/restate-sdk";
import type { Log } from "../log.ts";
import type { Durable, ObjectExecution, PokeTarget, SwapExecution } from "./durable.ts";
import { journalSerde } from "./journal-serde.ts";
import { quietError } from "./quiet-error.ts";
import { parseSwapKey } from "./swap-key.ts";

const noArgument = { input: serde.empty, output: serde.empty };

export type DurableServer = { url: string; close: () => Promise<void> };

/**
 * Where the engine runs our code: the workflow `swap`, keyed by the swap's uuid and the number of its execution, and the
 * objects `lane` and `attestation`, of which each key runs one `pump` at a time.
 */
export async function serveDurable({
	swap,
	lane,
	attestation,
	host,
	port,
	retryMaxMs,
	log,
}: {
	swap: SwapExecution;
	lane: ObjectExecution;
	attestation: ObjectExecution;
	host: string;
	port: number;
	/** The longest pause between two tries of something that fails. */
	retryMaxMs: number;
	log: Log;
}): Promise<DurableServer> {
	const options = {
		retryPolicy: retryForever(retryMaxMs),
		serde: journalSerde,
		// A run that hangs on a chain or the database is taken away from us before a person would notice.
		inactivityTimeout: { minutes: 1 },
		abortTimeout: { minutes: 1 },
		journalRetention: { minutes: 10 },
	};
	// Dedupe keys name a moment: they are not used again later.
	const objectOptions = { ...options, idempotencyRetention: { seconds: 30 }, journalRetention: 0 };
	const services = [
		workflow({
			name: "swap",
			handlers: {
				run: handlers.workflow.workflow(noArgument, (ctx: WorkflowContext) => {
					const { swapUuid, execution } = parseSwapKey(ctx.key);
					return swap(durableOf(ctx), swapUuid, execution);
				}),
			},
			// The swap's row is the permanent lock; this only bridges the moment until it says that all is done. But where it
			// is started anew, no timer of before may ring in it: this is longer than any.
			options: { ...options, workflowRetention: { minutes: 11 } },
		}),
		pumpObject("lane", lane, objectOptions),
		pumpObject("attestation", attestation, objectOptions),
	];
	const server = createServer(createEndpointHandler({ services, logger: toLog(log) }));
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
				// The engine holds its connections open. What runs on them it will run again elsewhere.
				for (const session of sessions) session.destroy();
			}),
	};
}

function pumpObject(
	name: PokeTarget["object"],
	run: ObjectExecution,
	options: NonNullable<Parameters<typeof object>[0]["options"]>,
) {
	const pump = handlers.object.exclusive(noArgument, (ctx: ObjectContext) => run(durableOf(ctx), ctx.key));
	return object({ name, handlers: { pump }, options });
}

/** The engine would else set an execution aside after a number of failures, until a person resumes it. */
function retryForever(maxMs: number): RetryPolicy {
	return {
		initialInterval: 50,
		exponentiationFactor: 2,
		maxInterval: maxMs,
		maxAttempts: 2 ** 31 - 1,
		onMaxAttempts: "pause",
	};
}

function durableOf(ctx: Context): Durable {
	return {
		step: <T>(name: string, run: () => Promise<T>) =>
			ctx.run(name, () =>
				run().catch((error: unknown) => {
					throw quietError(error);
				}),
			) as Promise<T>,
		newSignal: async () => {
			const { id, promise } = ctx.awakeable(serde.empty);
			return {
				id,
				wait: async (timeoutMs) => {
					try {
						await promise.orTimeout(timeoutMs);
						return "signalled";
					} catch (error) {
						if (error instanceof TimeoutError) return "timeout";
						throw error;
					}
				},
			};
		},
		sleep: async (ms) => {
			await ctx.sleep(ms);
		},
		poke: async ({ object: service, key }, { delayMs, dedupeKey } = {}) => {
			ctx.genericSend({
				service,
				method: "pump",
				key,
				parameter: new Uint8Array(),
				inputSerde: serde.binary,
				...(delayMs ? { delay: delayMs } : {}),
				...(dedupeKey === undefined ? {} : { idempotencyKey: dedupeKey }),
			});
		},
	};
}

function toLog(log: Log): LoggerTransport {
	return ({ level, replaying, context }, ...message) => {
		if (replaying || (level !== "warn" && level !== "error")) return;
		const error = message.find((part) => part instanceof Error);
		const [problem, ...rest] = error?.stack?.split("\n") ?? [];
		log.warn(
			// Later lines of a message can hold an endpoint's address with its key.
			{ invocation: context?.invocationTarget, problem, at: rest.filter((line) => /^\s+at /.test(line)) },
			message.filter((part) => part !== error).join(" "),
		);
	};
}
