import type { Milliseconds } from "@geoswap/protocol";
import type { ShownBlock } from "./node-call.ts";
import type { NodeState } from "./node-state.ts";

/** The chain as a pool has returned it to its callers. A node that has less is behind. */
export type SeenChain = {
	head: number;
	final: number;
	/** When the head was returned. */
	atMs: Milliseconds;
	/** The node that last showed the newest block. Reads of the newest state go to it. */
	leader: NodeState | undefined;
	/** The last blocks, each as the first node that showed it has it. */
	headers: Map<string, ShownBlock>;
	/** The head at the last poll of a caller, and how many polls in a row have shown no newer one. */
	polledHead: number;
	unchangedPolls: number;
};

/** A head is not trusted if it is beyond the last one by more than `blocks`, plus `perSecond` for each second since. */
const maxLeap = { blocks: 10_000, perSecond: 50 };
const headersKept = 256;

export function newSeenChain(): SeenChain {
	return {
		head: 0,
		final: 0,
		atMs: 0,
		leader: undefined,
		headers: new Map(),
		polledHead: 0,
		unchangedPolls: 0,
	};
}

/**
 * Returns true if no chain can have come so far since the last block. Such a height would make the other nodes look
 * behind.
 */
export function isLeap(seen: SeenChain, { height, nowMs }: { height: number; nowMs: Milliseconds }): boolean {
	if (seen.head === 0) return false;
	const seconds = (nowMs - seen.atMs) / 1_000;
	return height > seen.head + maxLeap.blocks + maxLeap.perSecond * seconds;
}

export function notePoll(seen: SeenChain, head: number): void {
	seen.unchangedPolls = head > seen.polledHead ? 0 : seen.unchangedPolls + 1;
	seen.polledHead = head;
}

export function noteHeader({ headers }: SeenChain, { hash, logsBloom }: ShownBlock): void {
	if (headers.has(hash)) return;
	headers.set(hash, { hash, ...(logsBloom && { logsBloom }) });
	const [oldest] = headers.keys();
	if (headers.size > headersKept && oldest !== undefined) headers.delete(oldest);
}

/** Records that the chain itself has gone back to what a node has. */
export function noteStepBack(
	seen: SeenChain,
	{ head, final, nowMs }: { head: number; final: number; nowMs: Milliseconds },
): void {
	Object.assign(seen, { head, final: Math.min(seen.final, final, head), atMs: nowMs });
}
