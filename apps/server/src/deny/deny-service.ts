import { fromSolanaWord, type Milliseconds, type Seconds } from "@geoswap/protocol";
import { getAddress, type Hex, size } from "viem";
import * as z from "zod";
import type { DenyMetrics } from "../telemetry/deny-metrics.ts";
import type { Log } from "../telemetry/log.ts";
import type { DenySource } from "./deny-list.ts";

/** The maximum number of concurrent requests. Further lookups wait, within the same timeout. */
const maxAtOnce = 16;
const maxWaiting = 1_000;
const maxCached = 100_000;
/** Time without requests after one that was not answered, so that a silent service delays few callers. */
const pauseMs = 1_000;

const answerSchema = z.object({ denied: z.boolean() });

/** An answer that arrived and cannot be used. It says nothing about other addresses. */
class BadAnswer extends Error {
	override name = "BadAnswer";
}

/**
 * Creates a list that the operator's HTTP service keeps. It is requested by GET with the address as the parameter
 * `address`, and must answer with status 200 and `{"denied": true}` or `{"denied": false}`. Anything else is no answer.
 */
export function createDenyService({
	url,
	timeoutMs,
	cacheSeconds,
	token,
	onLookup,
	nowMs,
	log,
}: {
	url: string;
	timeoutMs: Milliseconds;
	/** How long an answer counts. */
	cacheSeconds: Seconds;
	/** Sent as a bearer token. Undefined if the service requires none. */
	token: string | undefined;
	onLookup?: DenyMetrics["lookedUp"] | undefined;
	nowMs: () => Milliseconds;
	log: Log;
}): DenySource {
	/** Longest unused first. */
	const cached = new Map<Hex, { isDenied: boolean; atMs: Milliseconds }>();
	const underWay = new Map<Hex, Promise<boolean | undefined>>();
	const takeTurn = createTurns();
	const closing = new AbortController();
	let pausedUntilMs = 0;
	let isSilent = false;

	function recall(address: Hex): boolean | undefined {
		const known = cached.get(address);
		const ageMs = known ? nowMs() - known.atMs : 0;
		// A clock that was set back must not make an answer last longer.
		if (!known || ageMs < 0 || ageMs >= cacheSeconds * 1_000) return undefined;
		remember(address, known);
		return known.isDenied;
	}

	function remember(address: Hex, known: { isDenied: boolean; atMs: Milliseconds }): void {
		cached.delete(address);
		cached.set(address, known);
		const oldest = cached.keys().next();
		if (cached.size > maxCached && !oldest.done) cached.delete(oldest.value);
	}

	async function lookUp(address: Hex): Promise<boolean | undefined> {
		const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]);
		const endTurn = await takeTurn(signal).catch(() => undefined);
		if (!endTurn) return failed(new Error("too many lookups wait for the deny service"));
		try {
			// Other lookups may have failed while this one waited.
			if (nowMs() < pausedUntilMs) return undefined;
			const atMs = nowMs();
			const isDenied = await requestDenied({ url, token, address, signal });
			remember(address, { isDenied, atMs });
			onLookup?.("ok");
			if (isSilent) log.info({}, "the deny service answers again");
			isSilent = false;
			return isDenied;
		} catch (error) {
			if (!(error instanceof BadAnswer)) pausedUntilMs = nowMs() + pauseMs;
			return failed(error);
		} finally {
			endTurn();
		}
	}

	function failed(err: unknown): undefined {
		if (closing.signal.aborted) return undefined;
		onLookup?.("failed");
		if (!isSilent)
			log.error({ err }, "the deny service gives no answer, so nothing new is quoted or paid out");
		isSilent = true;
		return undefined;
	}

	return {
		isDenied(address) {
			const known = recall(address);
			if (known !== undefined) return known;
			const same = underWay.get(address);
			if (same) return same;
			if (nowMs() < pausedUntilMs) return undefined;
			const answer = lookUp(address).finally(() => underWay.delete(address));
			underWay.set(address, answer);
			return answer;
		},
		async close() {
			closing.abort();
			await Promise.all(underWay.values());
		},
	};
}

/**
 * Requests from the service whether an address is denied. Throws a BadAnswer if it answers otherwise than it must, and
 * another error if it does not answer.
 */
export async function requestDenied({
	url,
	token,
	address,
	signal,
}: {
	url: string;
	token: string | undefined;
	address: Hex;
	signal: AbortSignal;
}): Promise<boolean> {
	const target = new URL(url);
	target.searchParams.set("address", addressText(address));
	const response = await fetch(target, {
		headers: { accept: "application/json", ...(token && { authorization: `Bearer ${token}` }) },
		signal,
		// The token must reach no other host.
		redirect: "error",
	});
	if (response.status !== 200) {
		await response.body?.cancel();
		throw new BadAnswer(`the deny service answers with status ${response.status}`);
	}
	const text = await response.text();
	try {
		return answerSchema.parse(JSON.parse(text)).denied;
	} catch (cause) {
		throw new BadAnswer('the deny service does not answer with {"denied": true} or false', { cause });
	}
}

/** Formats an address as its chain's explorers do. */
function addressText(address: Hex): string {
	return size(address) === 20 ? getAddress(address) : fromSolanaWord(address);
}

/** Returns a function that resolves once there is room, with a function that ends the turn. Rejects on abort. */
function createTurns(): (signal: AbortSignal) => Promise<() => void> {
	const waiting = new Set<() => void>();
	let running = 0;
	const end = () => {
		const [next] = waiting;
		if (!next) running--;
		else {
			waiting.delete(next);
			next();
		}
	};
	return async (signal) => {
		signal.throwIfAborted();
		if (running < maxAtOnce) {
			running++;
			return end;
		}
		if (waiting.size >= maxWaiting) throw new Error("too many lookups wait");
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		waiting.add(resolve);
		const onAbort = () => {
			if (waiting.delete(resolve)) reject(signal.reason);
		};
		signal.addEventListener("abort", onAbort, { once: true });
		await promise;
		return end;
	};
}
