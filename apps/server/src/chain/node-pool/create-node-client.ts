import type { Milliseconds } from "@geoswap/protocol";
import { type CallTraits, type NodeAnswer, type NodeCall, refusalKind } from "./node-call.ts";
import { isAway, type NodeState, noteAnswer, noteBlockHash, type RestReason, rest } from "./node-state.ts";
import { isLeap, noteHeader, notePoll, type SeenChain } from "./seen-chain.ts";

/** The parts of a pool that differ by the kind of chain. */
export type NodeKind = {
	traitsOf: (call: NodeCall) => CallTraits;
	/** Reads which chain a node belongs to. */
	identity: { call: NodeCall; isOurs: (result: unknown) => boolean };
	/** Reads a node's head. */
	headCall: NodeCall;
	/** Returns the call that reads a block by its hash. Absent if no call names a block by its hash. */
	blockCall?: (hash: string) => NodeCall;
	/** True if a refusal of a transaction means that the chain has it, or has another in its place. */
	isKnown: (message: string) => boolean;
};

/** Called when a node begins to rest, or answers again after it did. */
export type OnNodeChange = (change: {
	host: string;
	reason: RestReason | undefined;
	restMs: Milliseconds;
}) => void;
/** Called after each call to a node. */
export type OnNodeCall = (call: { host: string; outcome: "ok" | "refused" | "failed" }) => void;

type Verdict = "good" | "stale" | "failed" | "missing";
/** A node's answer to a call, and what it is worth beside what the pool's callers have been shown. */
export type Judged = {
	node: NodeState;
	verdict: Verdict;
	/** Undefined if the node was found unfit before it got the call. */
	answer: NodeAnswer | undefined;
	height: number;
};

export type NodeClient = {
	/** Sends a call to a node after checking that the node has the block that the call needs. */
	askFit: (node: NodeState, call: NodeCall, traits: CallTraits) => Promise<Judged>;
	/** Sends a call to a node, after the node has shown once that it belongs to the chain. */
	askOurs: (node: NodeState, call: NodeCall) => Promise<NodeAnswer>;
	/** Lets a node rest, and reports it if it was not resting. */
	backOff: (node: NodeState, reason: RestReason, retryAfterMs?: Milliseconds) => void;
	/** Records that another node answered first although it got the call later. Once may be chance. */
	recordLostHedge: (node: NodeState) => void;
};

/** Creates what sends calls to one node of a pool, judges its answers, and records how well it works. */
export function createNodeClient({
	kind,
	seen,
	isAlone,
	isOnlyNode,
	nowMs,
	onChange,
	onCall,
}: {
	kind: NodeKind;
	seen: SeenChain;
	/** True if it is the only node that is read from. Its answers are then not compared with others. */
	isAlone: boolean;
	/** True if there is no other node to prefer if this one belongs to another chain, so that this is not checked. */
	isOnlyNode: boolean;
	nowMs: () => Milliseconds;
	onChange: OnNodeChange;
	onCall: OnNodeCall;
}): NodeClient {
	const showings = new Map<NodeState, { showing: Promise<Judged>; sinceMs: Milliseconds }>();

	return { askFit, askOurs, backOff, recordLostHedge };

	async function askFit(node: NodeState, call: NodeCall, traits: CallTraits): Promise<Judged> {
		const before = { head: seen.head, final: seen.final, ownHead: node.head };
		const { needs, needsBlockHash: hash } = traits;
		const height = needs === "head" ? before.head : needs === "any" ? 0 : Math.min(needs, before.head);
		if (!isAlone && !traits.isHeadPoll && node.head < height) {
			const shown = await showHead(node);
			if (shown.verdict === "failed" || node.head < height) return unfit(shown);
		}
		if (!isAlone && !traits.isHeadPoll && needs === "head" && height > 0) {
			// The node had the newest block, and may have gone back since. The answer counts if the node still has that
			// block.
			const [shown, judged] = await Promise.all([showHead(node), askAndJudge(node, call, before)]);
			return shown.verdict === "failed" || node.head < height ? unfit(shown) : judged;
		}
		if (!isAlone && hash !== undefined && kind.blockCall && !node.blockHashes.has(hash)) {
			const shown = await askAndJudge(node, kind.blockCall(hash), before);
			if (shown.verdict !== "good") return unfit(shown);
		}
		return askAndJudge(node, call, before);
	}

	/**
	 * Reads a node's head, once for all calls of the same millisecond, because an earlier response may predate a reorg on
	 * that node.
	 */
	function showHead(node: NodeState): Promise<Judged> {
		const known = showings.get(node);
		if (known && nowMs() - known.sinceMs < 1) return known.showing;
		const before = { head: seen.head, final: seen.final, ownHead: node.head };
		const showing = askAndJudge(node, kind.headCall, before);
		showings.set(node, { showing, sinceMs: nowMs() });
		return showing;
	}

	async function askOurs(node: NodeState, call: NodeCall): Promise<NodeAnswer> {
		if (!node.isOurs && !isOnlyNode) {
			const shown = await askOne(node, kind.identity.call);
			if (shown.kind !== "result") return shown;
			if (!kind.identity.isOurs(shown.result)) {
				backOff(node, "other chain");
				const error = new Error(`${node.host} belongs to another chain; remove it from the nodes`);
				return { kind: "failed", isLimited: false, error };
			}
		}
		node.isOurs = true;
		return askOne(node, call);
	}

	async function askAndJudge(
		node: NodeState,
		call: NodeCall,
		before: { head: number; final: number; ownHead: number },
	): Promise<Judged> {
		const traits = kind.traitsOf(call);
		const answer = await askOurs(node, call);
		if (answer.kind === "failed") return { node, verdict: "failed", answer, height: 0 };
		if (answer.kind === "refused") {
			const meaning = refusalKind(answer);
			if (meaning === "method-missing") node.missingMethods.set(call.method, nowMs());
			const verdicts = {
				"method-missing": "missing",
				limited: "failed",
				"block-missing": "stale",
				answer: "good",
			} as const;
			return {
				node,
				verdict: isAlone && meaning !== "limited" ? "good" : verdicts[meaning],
				answer,
				height: 0,
			};
		}
		node.missingMethods.delete(call.method);
		const { head, final, processed, block } = traits.shows(answer.result);
		const height = head ?? final ?? processed ?? 0;
		if (!isAlone && isLeap(seen, { height, nowMs: nowMs() })) {
			backOff(node, "contradicts");
			const error = new Error(`${node.host} reports block ${height}, far beyond block ${seen.head}`);
			return { node, verdict: "failed", answer: { kind: "failed", isLimited: false, error }, height: 0 };
		}
		if (block) {
			noteBlockHash(node, block.hash);
			noteHeader(seen, block);
		}
		if (head !== undefined) {
			node.lag = Math.max(0, before.head - head);
			// Answers to concurrent calls may cross. Only a head below the one known before the call is a step back.
			node.head = head < before.ownHead ? head : Math.max(node.head, head);
		}
		if (final !== undefined) node.final = final;
		const isBehind =
			(head ?? before.head) < before.head ||
			(final ?? before.final) < before.final ||
			(processed ?? before.head) < before.head ||
			traits.isLacking(answer.result);
		if (isBehind && !isAlone) {
			const isBack = head !== undefined && head < before.ownHead;
			if (head !== undefined) backOff(node, isBack ? "steps back" : "behind");
			return { node, verdict: "stale", answer, height };
		}
		if (head !== undefined && head >= seen.head) seen.leader = node;
		if (traits.isHeadPoll && call !== kind.headCall && head !== undefined) notePoll(seen, head);
		if (head !== undefined && (head >= seen.head || isAlone)) Object.assign(seen, { head, atMs: nowMs() });
		if (final !== undefined && (final >= seen.final || isAlone)) seen.final = final;
		return { node, verdict: "good", answer, height };
	}

	async function askOne(node: NodeState, call: NodeCall): Promise<NodeAnswer> {
		const startedMs = nowMs();
		node.calls++;
		const answer = await node.ask(call);
		const isFull = isLimited(answer);
		const isFailed = answer.kind === "failed" || isFull;
		onCall({ host: node.host, outcome: isFailed ? "failed" : answer.kind === "refused" ? "refused" : "ok" });
		if (isFailed) {
			node.failures++;
			const { retryAfterMs } = answer.kind === "failed" ? answer : {};
			backOff(node, isFull ? "limits" : "fails", retryAfterMs);
		} else {
			const wasAway = isAway(node);
			const now = nowMs();
			const noted = { method: call.method, tookMs: now - startedMs, nowMs: now };
			const isBack = noteAnswer(node, noted) && wasAway;
			if (isBack) onChange({ host: node.host, reason: undefined, restMs: 0 });
		}
		return answer;
	}

	function backOff(node: NodeState, reason: RestReason, retryAfterMs?: Milliseconds): void {
		const now = nowMs();
		const isNew = rest(node, { reason, nowMs: now, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
		if (isNew && reason !== "behind") onChange({ host: node.host, reason, restMs: node.restsUntilMs - now });
	}

	function recordLostHedge(node: NodeState): void {
		node.lostHedges++;
		if (node.lostHedges >= 2) backOff(node, "slow");
	}
}

/**
 * Returns the judgement of a node that did not get the caller's call. Only its failure can be returned to the caller.
 */
function unfit(shown: Judged): Judged {
	const isFailed = shown.verdict === "failed";
	return { ...shown, verdict: isFailed ? "failed" : "stale", answer: isFailed ? shown.answer : undefined };
}

/** Returns true if the node gave no answer because of its limit of requests. */
export function isLimited(answer: NodeAnswer | undefined): boolean {
	if (answer?.kind === "failed") return answer.isLimited;
	return answer?.kind === "refused" && refusalKind(answer) === "limited";
}
