import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import {
	createNodeClient,
	isLimited,
	type Judged,
	type NodeKind,
	type OnNodeCall,
	type OnNodeChange,
} from "./create-node-client.ts";
import type { CallTraits, NodeAnswer, NodeCall, ShownBlock } from "./node-call.ts";
import {
	hasMethod,
	hedgeAfterMs,
	isAway,
	isHanging,
	isResting,
	type NodeState,
	newNodeState,
} from "./node-state.ts";
import { newSeenChain, noteStepBack } from "./seen-chain.ts";
import { sendToAll } from "./send-to-all.ts";

/** The state of a node, for metrics. */
type NodeReading = {
	host: string;
	lag: number;
	isInUse: boolean;
	/** True if it has given no good answer since it last failed. Undefined if it is not read from. */
	isResting: boolean | undefined;
};

export type NodePool = {
	/** Returns the answer of a node that is good enough for the call. Throws if none is. */
	request: (call: NodeCall) => Promise<unknown>;
	/** Returns the highest block that was returned to callers. */
	seenHead: () => number;
	/** Returns the state of each node, for metrics. */
	readings: () => NodeReading[];
};

/** Time between two attempts while nodes are behind. */
const catchUpMs = 250;
/** If no node has reached the last known head for this long, the chain itself went back. */
const forgetHeadMs = 30_000;
/** The share of reads that may be sent to a second node, and the maximum number of these in a burst. */
const hedges = { perCall: 0.1, atOnce: 10 };
/** Every so many polls, the head is read from another node than usual. This reveals a usual node that always lags. */
const comparedPolls = 16;
const maxTries = 8;
/** How long other nodes may take to confirm one node's answer. It is less if all of them are resting. */
const secondOpinionMs = { least: 750, most: 3_000 };
/** Stands for the block of a call that does not name one. */
const anyBlock: ShownBlock = { hash: "" };

/**
 * Creates a pool of nodes of one chain. A read goes to the first node that is fit, which means that it answers, in
 * time, within its limits, and has reached every block that the pool has returned to its callers. Another node gets the
 * read if that one fails, or in addition if it takes unusually long. A transaction goes to all nodes that send. A pool
 * of one node adds only a retry.
 */
export function createNodePool({
	nodes: listed,
	kind,
	timeoutMs = 10_000,
	nowMs = () => performance.now(),
	wait = (ms) => sleep(ms, undefined, { ref: false }),
	onChange = () => {},
	onCall = () => {},
}: {
	/** The preferred ones first. */
	nodes: readonly Pick<NodeState, "host" | "roles" | "ask">[];
	kind: NodeKind;
	/** How long a read waits for nodes that are behind or limited. Each call has its own limit. */
	timeoutMs?: Milliseconds;
	nowMs?: () => Milliseconds;
	wait?: (ms: Milliseconds) => Promise<void>;
	onChange?: OnNodeChange;
	onCall?: OnNodeCall;
}): NodePool {
	const nodes = listed.map(newNodeState);
	const readers = nodes.filter(({ roles }) => roles.includes("read"));
	const senders = nodes.filter(({ roles }) => roles.includes("send"));
	const isAlone = readers.length === 1;
	const seen = newSeenChain();
	const client = createNodeClient({
		kind,
		seen,
		isAlone,
		isOnlyNode: nodes.length === 1,
		nowMs,
		onChange,
		onCall,
	});
	let polls = 0;
	let hedgesLeft = hedges.atOnce / 2;
	let lastUsed: NodeState | undefined;

	return {
		request: (call) => {
			const traits = kind.traitsOf(call);
			return traits.isSend
				? sendToAll({
						nodes: senders,
						call,
						ask: (node) => client.askOurs(node, call),
						isKnown: kind.isKnown,
						nowMs,
					})
				: read(call, traits);
		},
		seenHead: () => seen.head,
		readings: () =>
			nodes.map((node) => ({
				host: node.host,
				lag: node.lag,
				isInUse: node === lastUsed,
				isResting: readers.includes(node) ? isAway(node) : undefined,
			})),
	};

	async function read(call: NodeCall, traits: CallTraits): Promise<unknown> {
		const deadlineMs = nowMs() + timeoutMs;
		let last: Judged | undefined;
		for (let tries = 0; tries < maxTries; tries++) {
			const judged = await readOnce(call, traits, candidatesFor(call, traits));
			const good = judged.find(({ verdict }) => verdict === "good");
			if (good) return given(await completed(call, traits, good));
			const stale = judged.filter(({ verdict }) => verdict === "stale");
			const failed = judged.filter(({ verdict }) => verdict === "failed");
			const missing = judged.filter(({ verdict }) => verdict === "missing");
			// If the nodes that have the method do not answer, the caller may have another way with those that lack it.
			last = (tries > 0 ? missing[0] : undefined) ?? failed[0] ?? stale[0] ?? judged[0] ?? last;
			// A node that does not get the call, because it limits requests, may have what the others lack.
			const isEveryoneAsked = readers.every((node) => judged.some((one) => one.node === node));
			const isUnanimous = isEveryoneAsked && failed.length === 0;
			if (stale.length > 0 && (isUnanimous || nowMs() - seen.atMs > forgetHeadMs)) {
				const [best] = stale.toSorted((one, other) => other.height - one.height) as [Judged];
				const { node, answer, height } = best;
				if (height > 0) noteStepBack(seen, { head: node.head, final: node.final, nowMs: nowMs() });
				if (answer) return given(answer);
				// The chain went back, or has no such block. In the first case the call itself is still to be made.
				if (height > 0) continue;
				break;
			}
			// Every node lacks the method. The caller may have another way.
			if (isUnanimous && judged.length > 0) break;
			const limitedForMs = restOfLimitsMs();
			// A broken connection is tried once more, as if there were no pool.
			if (stale.length === 0 && tries > 0 && limitedForMs === undefined) break;
			const isSure = tries > 0 || failed.every(({ answer }) => isLimited(answer));
			const pauseMs = stale.length > 0 ? catchUpMs : isSure ? (limitedForMs ?? 0) : 0;
			if (nowMs() + pauseMs > deadlineMs) break;
			if (pauseMs > 0) await wait(pauseMs);
		}
		if (!last) throw new Error("all nodes are rate-limited");
		// An answer that is behind is returned only if all nodes give it.
		if (last.verdict === "stale") throw new Error(`no node that answers has what ${call.method} requires`);
		return given(last.answer as NodeAnswer);
	}

	/** Sends the call to nodes until one answer is good. Returns all answers, the good one last. */
	async function readOnce(
		call: NodeCall,
		traits: CallTraits,
		candidates: readonly NodeState[],
	): Promise<Judged[]> {
		const waiting = [...candidates];
		const running = new Map<NodeState, { judging: Promise<Judged>; sinceMs: Milliseconds }>();
		const judged: Judged[] = [];
		let latest: NodeState | undefined;
		const start = () => {
			const node = waiting.shift();
			if (!node) return;
			latest = node;
			running.set(node, { judging: client.askFit(node, call, traits), sinceMs: nowMs() });
		};
		start();
		hedgesLeft = Math.min(hedges.atOnce, hedgesLeft + hedges.perCall);
		while (running.size > 0) {
			const isLate =
				latest && waiting.length > 0 ? [wait(hedgeAfterMs(latest, call.method)).then(() => undefined)] : [];
			const next = await Promise.race([...[...running.values()].map(({ judging }) => judging), ...isLate]);
			if (!next) {
				for (const [node, { sinceMs }] of running) {
					if (isHanging(node, { method: call.method, waitedMs: nowMs() - sinceMs }))
						client.backOff(node, "slow");
				}
				if (takeHedge([...running.keys()])) start();
				continue;
			}
			const overtaken = [...running.keys()].slice(0, [...running.keys()].indexOf(next.node));
			running.delete(next.node);
			judged.push(next);
			if (next.verdict === "good") {
				for (const node of overtaken) client.recordLostHedge(node);
				lastUsed = next.node;
				return judged;
			}
			start();
		}
		return judged;
	}

	/** Returns whether one more node may get the call. It does not count as a hedge if all nodes so far are resting. */
	function takeHedge(asked: readonly NodeState[]): boolean {
		if (asked.every((node) => isResting(node, nowMs()))) return true;
		if (hedgesLeft < 1) return false;
		hedgesLeft--;
		return true;
	}

	/**
	 * Returns the answer, or that of another node which has more, because a node can leave something out. An answer with
	 * something that is not in the block is not trusted. If no other node answers, one answer is enough.
	 */
	async function completed(call: NodeCall, traits: CallTraits, first: Judged): Promise<NodeAnswer> {
		const { mayLack, seemsToLack, tells } = traits;
		const answer = first.answer as NodeAnswer;
		const header = traits.needsBlockHash === undefined ? anyBlock : seen.headers.get(traits.needsBlockHash);
		if (isAlone || !mayLack || !tells || !header || answer.kind !== "result") return answer;
		if (!mayLack(answer.result, header)) return answer;
		let best = { node: first.node, answer };
		let others = candidatesFor(call, traits).filter((node) => node !== first.node);
		const isAnyAwake = others.some((node) => !isResting(node, nowMs()));
		const late = wait(isAnyAwake ? secondOpinionMs.most : secondOpinionMs.least).then((): Judged[] => []);
		do {
			const judged = await Promise.race([readOnce(call, traits, others), late]);
			const second = judged.find(({ verdict }) => verdict === "good");
			if (second?.answer?.kind !== "result") break;
			const other = { node: second.node, answer: second.answer };
			others = others.filter((node) => judged.every((one) => one.node !== node));
			const more = tells(other.answer.result, header) - tells(best.answer.result, header);
			if (more !== 0) client.backOff(more > 0 ? best.node : other.node, "contradicts");
			if (more > 0) best = other;
		} while (others.length > 0 && seemsToLack?.(best.answer.result, header));
		return best.answer;
	}

	/** Returns the nodes that may get the call, in the order in which they get it. */
	function candidatesFor({ method }: NodeCall, traits: CallTraits): NodeState[] {
		const now = nowMs();
		const asked = readers.filter((node) => isAlone || node.restReason !== "limits" || !isResting(node, now));
		// A node that lacked the method comes last, because it may have it by now.
		const rank = (node: NodeState) =>
			(hasMethod(node, method, now) ? 0 : 4) +
			(isResting(node, now) ? 2 : 0) +
			(node.head < seen.head ? 1 : 0);
		const ordered = asked.toSorted((one, other) => rank(one) - rank(other));
		const isLeading = (node: NodeState) => node === seen.leader && rank(node) < 2;
		if (!traits.isHeadPoll) {
			return [...ordered.filter(isLeading), ...ordered.filter((node) => !isLeading(node))];
		}
		polls++;
		// If the last poll brought nothing new, its node may have stopped, so this poll goes to another one.
		const turn = seen.unchangedPolls > 0 ? seen.unchangedPolls : polls % comparedPolls === 0 ? 1 : 0;
		const awake = ordered.filter((node) => !isResting(node, now));
		const chosen = awake[turn % Math.max(awake.length, 1)];
		return chosen ? [chosen, ...ordered.filter((node) => node !== chosen)] : ordered;
	}

	/** Returns the time until a node that limits requests may get calls again; undefined if none does. */
	function restOfLimitsMs(): Milliseconds | undefined {
		const now = nowMs();
		const rests = readers
			.filter((node) => node.restReason === "limits" && isResting(node, now))
			.map(({ restsUntilMs }) => restsUntilMs - now);
		return rests.length > 0 ? Math.min(...rests) : undefined;
	}
}

/** Returns an answer as the node gave it. Throws if the node gave none. */
function given(answer: NodeAnswer): unknown {
	if (answer.kind === "result") return answer.value;
	if (answer.kind === "refused") return answer.give();
	throw answer.error;
}
