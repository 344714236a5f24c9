import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
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
import type { PokeTarget } from "./engine.ts";
import { quietError } from "./quiet-error.ts";
import type { Handlers } from "./track-handlers.ts";

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
