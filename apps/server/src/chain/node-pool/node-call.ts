import type { Milliseconds } from "@geoswap/protocol";

/** A JSON-RPC call. */
export type NodeCall = { method: string; params: readonly unknown[] };

/** Block heights that an answer shows. On Solana they are slots, and `processed` is above the head of a node. */
export type ShownHeights = { head?: number; final?: number; processed?: number; block?: ShownBlock };

/** A block that an answer shows. */
export type ShownBlock = { hash: string; logsBloom?: string };

/** The properties of a call by which the pool chooses nodes for it and judges their answers. */
export type CallTraits = {
	/** True if the call offers a transaction, which goes to all nodes that send. */
	isSend: boolean;
	/** True if the call reads the newest block. */
	isHeadPoll: boolean;
	/**
	 * The height that a node must have reached to have the answer. It is that of the newest known block, a number, or
	 * any.
	 */
	needs: "head" | "any" | number;
	/** The block that a node must have to return the answer. */
	needsBlockHash?: string;
	/** Returns the heights that a result shows. */
	shows: (result: unknown) => ShownHeights;
	/** True if the result means that the node does not have the block yet. */
	isLacking: (result: unknown) => boolean;
	/** True if the result may leave out something that the block has. Another node then gets the call too. */
	mayLack?: (result: unknown, block: ShownBlock) => boolean;
	/** True if the result probably leaves something out, even if a second node returns the same. */
	seemsToLack?: (result: unknown, block: ShownBlock) => boolean;
	/** Returns how much of the block a result contains; negative if it contradicts the block's header. */
	tells?: (result: unknown, block: ShownBlock) => number;
};

/** A node's answer to one call. `value` is returned to the caller; `give` returns a refusal, or throws it. */
export type NodeAnswer =
	| { kind: "result"; result: unknown; value: unknown }
	| { kind: "refused"; code: number; message: string; give: () => unknown }
	| { kind: "failed"; isLimited: boolean; retryAfterMs?: number; error: unknown };

/** Sends one call to one node. Never rejects. */
export type AskNode = (call: NodeCall) => Promise<NodeAnswer>;

const methodMissing =
	/method .*(not (found|supported|available|allowed|exist|whitelisted)|is unsupported)|unsupported method|does not exist\/is not available|unknown method/i;
const limited =
	/rate ?limit|too many requests|request (limit|count)|(?<!gas )limit exceeded|exceeded .*(capacity|quota)/i;
/** Providers use the code of limits also for ranges of logs that are too long. */
const tooLong =
	/more than .* results|block range|range .*(too|exceeds)|response size|too many (logs|results)|logs? (limit|response)|query timeout/i;
const blockMissing =
	/header not found|unknown block|(invalid|unsupported) block tag|block not found|block .*not (found|available)|BlockOutOfRange|missing trie node|state .*not available|not yet available|minimum context slot/i;

/**
 * Returns the meaning of a refusal. It is about the node, so that another may get the call, or it is an answer to the
 * call.
 */
export function refusalKind({
	code,
	message,
}: {
	code: number;
	message: string;
}): "method-missing" | "limited" | "block-missing" | "answer" {
	if (code === -32601 || methodMissing.test(message)) return "method-missing";
	if (tooLong.test(message)) return "answer";
	if (code === 429 || code === -32005 || limited.test(message)) return "limited";
	// -32016: Solana's minContextSlot is not reached; -32004: it has no block for the slot yet.
	if (code === -32016 || code === -32004 || blockMissing.test(message)) return "block-missing";
	return "answer";
}

/** Returns the time in a Retry-After header: seconds or a date. Undefined if it has none. */
export function retryAfterMs(
	header: string | null | undefined,
	nowMs = Date.now(),
): Milliseconds | undefined {
	if (!header) return undefined;
	const ms = /^\d+(\.\d+)?$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
	return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
