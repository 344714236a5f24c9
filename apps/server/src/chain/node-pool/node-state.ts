import type { Milliseconds } from "@geoswap/protocol";
import type { AskNode } from "./node-call.ts";

export type NodeRole = "read" | "send" | "agree";

/** Why a node gets no calls for a while. */
export type RestReason =
	| "other chain"
	| "fails"
	| "limits"
	| "slow"
	| "behind"
	| "steps back"
	| "contradicts";

/** One node of a pool, and what its answers so far show about it. */
export type NodeState = {
	/** The host of its URL, without the rest, which may hold a key. */
	host: string;
	roles: readonly NodeRole[];
	ask: AskNode;
	/** True once it has shown that it belongs to the chain. It gets no other calls before. */
	isOurs: boolean;
	/** The highest heights that it has shown. Lowered if it shows less. */
	head: number;
	final: number;
	/** Hashes of the last blocks that it has shown. */
	blockHashes: Set<string>;
	missingMethods: Map<string, Milliseconds>;
	restsUntilMs: Milliseconds;
	restReason: RestReason | undefined;
	/** Consecutive rests, and consecutive hedged calls that another node answered first. */
	rests: number;
	lostHedges: number;
	/** Smoothed time to answer, by method. */
	latencyMs: Map<string, { mean: Milliseconds; deviation: Milliseconds }>;
	/** The number of blocks that it was behind when it last showed its head. */
	lag: number;
	calls: number;
	failures: number;
};

const hashesKept = 256;
const shortestRestMs = 1_000;
const maxRestMs = 60_000;
/** A provider whose quota of the day is used up requests a pause of hours, but its quota may be raised earlier. */
const maxLimitMs = 600_000;
/** How long a node counts as lacking a method. Its provider may upgrade it. */
const missingForMs = 600_000;
const shortestHedgeMs = 150;
const maxHedgeMs = 1_500;
/** Used before the first answers, when it is unknown how long a call takes. */
const firstHedgeMs = 750;

export function newNodeState({ host, roles, ask }: Pick<NodeState, "host" | "roles" | "ask">): NodeState {
	return {
		host,
		roles,
		ask,
		isOurs: false,
		head: 0,
		final: 0,
		blockHashes: new Set(),
		missingMethods: new Map(),
		restsUntilMs: 0,
		restReason: undefined,
		rests: 0,
		lostHedges: 0,
		latencyMs: new Map(),
		lag: 0,
		calls: 0,
		failures: 0,
	};
}

/** Returns whether the node has given no good answer since it last failed. One that is only behind does answer. */
export function isAway({ restReason }: NodeState): boolean {
	return restReason !== undefined && restReason !== "behind";
}

export function isResting({ restsUntilMs }: NodeState, nowMs: Milliseconds): boolean {
	return nowMs < restsUntilMs;
}

/**
 * Lets a node rest for as long as it requested, else twice as long as the last time. Returns whether it was not
 * resting.
 */
export function rest(
	node: NodeState,
	{ reason, retryAfterMs, nowMs }: { reason: RestReason; retryAfterMs?: Milliseconds; nowMs: Milliseconds },
): boolean {
	const wasResting = isResting(node, nowMs);
	const own = Math.min(maxRestMs, shortestRestMs * 2 ** node.rests);
	if (!wasResting) node.rests = Math.min(node.rests + 1, 10);
	const restMs = retryAfterMs === undefined ? own : Math.min(retryAfterMs, maxLimitMs);
	node.restsUntilMs = Math.max(node.restsUntilMs, nowMs + restMs);
	node.restReason = reason;
	node.lostHedges = 0;
	return !wasResting;
}

/** Records an answer. Returns whether the node had been resting before, and is healthy again. */
export function noteAnswer(
	node: NodeState,
	{ method, tookMs, nowMs }: { method: string; tookMs: Milliseconds; nowMs: Milliseconds },
): boolean {
	const known = node.latencyMs.get(method);
	const mean = known ? known.mean + (tookMs - known.mean) / 8 : tookMs;
	const deviation = known ? known.deviation + (Math.abs(tookMs - mean) - known.deviation) / 4 : tookMs / 2;
	node.latencyMs.set(method, { mean, deviation });
	// Slow answers, and answers to calls from before the node limited requests, do not show that it is healthy.
	const isLimiting = node.restReason === "limits" && isResting(node, nowMs);
	if (tookMs > maxHedgeMs || isLimiting) return false;
	const hadRested = node.rests > 0;
	node.rests = 0;
	node.lostHedges = 0;
	node.restReason = undefined;
	return hadRested;
}

/**
 * Returns how long the node may take for this call before another one gets it too, which is about its 95th percentile.
 * For a method that is new to the node, its slowest method counts.
 */
export function hedgeAfterMs({ latencyMs }: NodeState, method: string): Milliseconds {
	const known = latencyMs.get(method);
	const expected = (known ? [known] : [...latencyMs.values()]).map(
		({ mean, deviation }) => 1.5 * (mean + 3 * deviation),
	);
	if (expected.length === 0) return firstHedgeMs;
	return Math.min(Math.max(...expected, shortestHedgeMs), maxHedgeMs);
}

/** Returns whether the node has taken so long for this call that it cannot be by chance. */
export function isHanging(
	{ latencyMs }: NodeState,
	{ method, waitedMs }: { method: string; waitedMs: Milliseconds },
): boolean {
	return waitedMs >= Math.max(maxHedgeMs, 4 * (latencyMs.get(method)?.mean ?? 0));
}

export function hasMethod({ missingMethods }: NodeState, method: string, nowMs: Milliseconds): boolean {
	const missingSinceMs = missingMethods.get(method);
	return missingSinceMs === undefined || nowMs - missingSinceMs > missingForMs;
}

export function noteBlockHash({ blockHashes }: NodeState, hash: string): void {
	blockHashes.delete(hash);
	blockHashes.add(hash);
	const [oldest] = blockHashes;
	if (blockHashes.size > hashesKept && oldest !== undefined) blockHashes.delete(oldest);
}
