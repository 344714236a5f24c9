import { Redis } from "ioredis";

/** A Redis that answers at once or not at all. */
export type PromptRedis = {
	/** What a script returns, or undefined where Redis does not answer in time. Never throws. */
	run(script: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown>;
	close(): void;
};

/** A script of Redis, in Lua; no two have one name. It may ask Redis for the time: the clocks of the processes need not agree. */
export type Script = { name: string; lua: string };

type Command = (keyCount: number, ...keysAndValues: (string | number)[]) => Promise<unknown>;

/**
 * Nobody waits longer than the timeout, and once somebody waited that long nobody waits at all until Redis answers again,
 * which is asked beside the requests. What is sent in one turn of the event loop goes in one write; the client's own
 * automatic pipelines are not used, since one whose command timed out throws where nothing catches it.
 */
export function connectRedis({
	url,
	timeoutMs = 100,
	askAgainMs = 500,
	onError = () => {},
}: {
	url: string;
	timeoutMs?: number;
	askAgainMs?: number;
	onError?: (error: unknown) => void;
}): PromptRedis {
	const redis = new Redis(url, {
		enableOfflineQueue: false,
		maxRetriesPerRequest: 0,
		// Of its own commands: how long a request waits is decided below.
		commandTimeout: 1_000,
		connectTimeout: 1_000,
		retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
		// What was the primary is a replica now: the address leads to the new one. A script's error only quotes it.
		reconnectOnError: ({ message }) => message.includes("READONLY"),
	});
	redis.on("error", onError);
	const commands = new Map<string, Command>();
	let corked: Redis["stream"] | undefined;
	/** Called once what waits to be written is. */
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

	function fallSilent(error: unknown): void {
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
				// One that is as late as before would only be waited for again.
				if (performance.now() - askedAt <= timeoutMs) isSilent = false;
				else askLater();
			},
			() => {
				askLater();
				// What it never answered would be kept for as long as the connection.
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
						// It may be we who were busy: timers come before what has arrived meanwhile.
						lastLook = setImmediate(() => {
							fallSilent(new Error(`Redis did not answer within ${timeoutMs} ms`));
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
				// From when it is written: it may be we who were busy until then.
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
