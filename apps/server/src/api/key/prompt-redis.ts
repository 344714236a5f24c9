import type { Milliseconds } from "@geoswap/protocol";
import { Redis } from "ioredis";

/** A Redis that answers promptly or not at all. */
export type PromptRedis = {
	/** Returns the script's result, or undefined if Redis does not answer in time. Never throws. */
	run(script: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown>;
	close(): void;
};

/**
 * A Lua script for Redis, with a unique name. It may use the clock of Redis, since the processes' clocks may differ.
 */
export type Script = { name: string; lua: string };

type Command = (keyCount: number, ...keysAndValues: (string | number)[]) => Promise<unknown>;

/**
 * Connects to Redis. No call waits longer than the timeout. After one timeout, calls return immediately until Redis
 * answers again, which is checked outside of requests. Commands sent in one turn of the event loop go in one write.
 * The client's own automatic pipelines are not used, since a timed-out command in one throws where nothing catches
 * it.
 */
export function connectRedis({
	url,
	timeoutMs = 100,
	askAgainMs = 500,
	onError = () => {},
}: {
	url: string;
	timeoutMs?: Milliseconds;
	askAgainMs?: Milliseconds;
	onError?: (error: unknown) => void;
}): PromptRedis {
	const redis = new Redis(url, {
		enableOfflineQueue: false,
		maxRetriesPerRequest: 0,
		// The timeout of the client's own commands. How long a request waits is decided below.
		commandTimeout: 1_000,
		connectTimeout: 1_000,
		retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
		// The former primary is a replica now, and the address leads to the new one. A script's error only quotes the
		// word.
		reconnectOnError: ({ message }) => message.includes("READONLY"),
	});
	redis.on("error", onError);
	const commands = new Map<string, Command>();
	let corked: Redis["stream"] | undefined;
	/** Callbacks for when the pending commands are written. */
	let written: (() => void)[] = [];
	let isSilent = false;
	let isClosed = false;
	let askAgain: NodeJS.Timeout | undefined;

	function commandOf({ name, lua }: Script): Command {
		const known = commands.get(name);
		if (known) return known;
		redis.defineCommand(name, { lua });
		const command: Command = (...args) =>
			(redis as unknown as Record<string, Command>)[name]?.call(redis, ...args) ??
			Promise.reject(new Error(`${name} is not defined`));
		commands.set(name, command);
		return command;
	}

	function writeTogether(onWritten: () => void): void {
		const { stream } = redis;
		written.push(onWritten);
		if (stream === corked) return;
		corked = stream;
		stream.cork();
		setImmediate(() => {
			corked = undefined;
			stream.uncork();
			const all = written;
			written = [];
			for (const tell of all) tell();
		});
	}

	function openBreaker(error: unknown): void {
		if (isSilent) return;
		isSilent = true;
		onError(error);
		ask();
	}

	function askLater(): void {
		if (!isClosed) askAgain = setTimeout(ask, askAgainMs);
	}

	function ask(): void {
		const askedAt = performance.now();
		redis.ping().then(
			() => {
				// If the ping took longer than the timeout too, requests would time out again.
				if (performance.now() - askedAt <= timeoutMs) isSilent = false;
				else askLater();
			},
			() => {
				askLater();
				// Otherwise commands that Redis never answered would be kept for the lifetime of the connection.
				if (redis.status === "ready") redis.disconnect(true);
			},
		);
	}

	return {
		run(script, keys, values) {
			if (isClosed || isSilent || redis.status !== "ready") return Promise.resolve(undefined);
			return new Promise((resolve) => {
				let isSettled = false;
				let timer: NodeJS.Timeout | undefined;
				let lastLook: NodeJS.Immediate | undefined;
				const wait = () => {
					if (isSettled) return;
					timer = setTimeout(() => {
						// This process may have been busy, and timers run before data that arrived meanwhile is read.
						lastLook = setImmediate(() => {
							openBreaker(new Error(`Redis did not answer within ${timeoutMs} ms`));
							resolve(undefined);
						});
					}, timeoutMs);
				};
				const settle = (value: unknown) => {
					isSettled = true;
					clearTimeout(timer);
					clearImmediate(lastLook);
					resolve(value);
				};
				// The timeout starts when the command is written, because this process may have been busy until then.
				writeTogether(wait);
				commandOf(script)(keys.length, ...keys, ...values).then(settle, (error: unknown) => {
					onError(error);
					settle(undefined);
				});
			});
		},
		close() {
			isClosed = true;
			clearTimeout(askAgain);
			redis.disconnect();
		},
	};
}
