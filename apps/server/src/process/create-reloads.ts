import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { reloadProblems } from "../config/reload-problems.ts";
import type { Log } from "../telemetry/log.ts";
import { expectLiveAssets } from "./expect-live-assets.ts";
import type { Generation } from "./start-generation.ts";

/** The generation in use, and its replacement by one of the configuration as it is now. */
export type Reloads = {
	current: () => Generation;
	/** When the configuration in use was read. */
	loadedAtMs: () => Milliseconds;
	/** Returns why the configuration in use is not the newest, in words that anyone may read; undefined if it is. */
	problem: () => string | undefined;
	/**
	 * Reads the configuration again, and switches to it if it passes every check that a start makes and all that is
	 * quoted now stays quoted. Otherwise nothing changes. A call during a reload makes another one after it.
	 */
	reload: () => void;
	/** Ends all generations. Resolves when their loops have ended. The signal must be aborted. */
	end: () => Promise<void>;
};

export function createReloads({
	path,
	first,
	read,
	start,
	switchTo,
	patienceMs,
	nowMs,
	signal,
	log,
}: {
	/** The configuration file, for the messages. */
	path: string;
	first: Generation;
	read: () => Config;
	start: (config: Config, before: Generation) => Promise<Generation>;
	/** Lets the generation answer. Resolves when the one before has answered its last request. */
	switchTo: (next: Generation) => Promise<void>;
	/** Milliseconds to wait for the prices of a new generation. */
	patienceMs?: Milliseconds;
	nowMs: () => Milliseconds;
	/** Aborted when the process stops. */
	signal: AbortSignal;
	log: Log;
}): Reloads {
	let current = first;
	let loadedAtMs = nowMs();
	let isRefused = false;
	let isAskedAgain = false;
	let reloading: Promise<void> | undefined;
	/** Generations that still answer requests. */
	const leaving = new Set<Promise<void>>();

	function reload(): void {
		if (reloading) {
			isAskedAgain = true;
			return;
		}
		reloading = replace().finally(() => {
			reloading = undefined;
			if (!isAskedAgain || signal.aborted) return;
			isAskedAgain = false;
			reload();
		});
	}

	async function replace(): Promise<void> {
		const before = current;
		const readAtMs = nowMs();
		let next: Generation | undefined;
		try {
			const config = read();
			const problems = reloadProblems(before.config, config);
			if (problems.length > 0) throw new ConfigError(path, problems.join("\n"));
			next = await start(config, before);
			await expectLiveAssets(next, { before, signal, log, ...(patienceMs !== undefined && { patienceMs }) });
			leave(before, switchTo(next));
		} catch (err) {
			await next?.end();
			if (signal.aborted) return;
			isRefused = true;
			log.error({ err }, "the configuration was not reloaded; the one before stays in use");
			return;
		}
		current = next;
		loadedAtMs = readAtMs;
		isRefused = false;
		const chains = next.config.chains.map(({ chainId }) => chainId);
		log.info({ chains }, "the configuration was reloaded");
	}

	function leave(generation: Generation, answered: Promise<void>): void {
		// A process that stops answers its last requests before it calls `end`.
		const left = answered.then(() => generation.end()).finally(() => leaving.delete(left));
		leaving.add(left);
	}

	return {
		current: () => current,
		loadedAtMs: () => loadedAtMs,
		problem: () =>
			isRefused
				? `the last reload was refused, as the log says; the configuration of ${new Date(loadedAtMs).toISOString()} is in use`
				: undefined,
		reload,
		async end() {
			await reloading;
			await Promise.all([current.end(), ...leaving]);
		},
	};
}
