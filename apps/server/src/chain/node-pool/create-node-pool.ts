import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import {
	type CallTraits,
	type NodeAnswer,
	type NodeCall,
	refusalKind,
	type ShownBlock,
} from "./node-call.ts";
import {
	hasMethod,
	hedgeAfterMs,
	isAway,
	isHanging,
	isResting,
	type NodeState,
	newNodeState,
	noteAnswer,
	noteBlockHash,
	type RestReason,
	rest,
} from "./node-state.ts";
import { sendToAll } from "./send-to-all.ts";

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
/** A head is not trusted if it is beyond the last one by more than `blocks`, plus `perSecond` for each second since. */
const maxLeap = { blocks: 10_000, perSecond: 50 };
/** The share of reads that may be sent to a second node, and the maximum number of these in a burst. */
const hedges = { perCall: 0.1, atOnce: 10 };
/** Every so many polls, the head is read from another node than usual. This reveals a usual node that always lags. */
const comparedPolls = 16;
const maxTries = 8;
/** How long other nodes may take to confirm one node's answer. It is less if all of them are resting. */
const secondOpinionMs = { least: 750, most: 3_000 };
const headersKept = 256;
/** Stands for the block of a call that does not name one. */
const anyBlock: ShownBlock = { hash: "" };

type Verdict = "good" | "stale" | "failed" | "missing";
type Judged = {
	node: NodeState;
	verdict: Verdict;
	/** Undefined if the node was found unfit before it got the call. */
	answer: NodeAnswer | undefined;
	height: number;
};

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
	const seen = { head: 0, final: 0, atMs: 0 };
	/** The head at the last poll of a caller, and how many polls in a row have shown no newer one. */
	let polledHead = 0;
	let unchangedPolls = 0;
	let polls = 0;
	let hedgesLeft = hedges.atOnce / 2;
	let lastUsed: NodeState | undefined;
	/** The last blocks, each as the first node that showed it has it. */
	const headers = new Map<string, ShownBlock>();
	const showings = new Map<NodeState, { showing: Promise<Judged>; sinceMs: Milliseconds }>();
	/** The node that last showed the newest block. Reads of the newest state go to it. */
	let leader: NodeState | undefined;

	return {
		request: (call) => {
			const traits = kind.traitsOf(call);
			return traits.isSend
				? sendToAll({
						nodes: senders,
						call,
						ask: (node) => askOurs(node, call),
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
				const { answer, height } = accept(stale);
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
			running.set(node, { judging: askFit(node, call, traits), sinceMs: nowMs() });
		};
		start();
		hedgesLeft = Math.min(hedges.atOnce, hedgesLeft + hedges.perCall);
		while (running.size > 0) {
			const isLate =
				latest && waiting.length > 0 ? [wait(hedgeAfterMs(latest, call.method)).then(() => undefined)] : [];
			const next = await Promise.race([...[...running.values()].map(({ judging }) => judging), ...isLate]);
			if (!next) {
				for (const [node, { sinceMs }] of running) {
					if (isHanging(node, { method: call.method, waitedMs: nowMs() - sinceMs })) backOff(node, "slow");
				}
				if (takeHedge([...running.keys()])) start();
				continue;
			}
			const overtaken = [...running.keys()].slice(0, [...running.keys()].indexOf(next.node));
			running.delete(next.node);
			judged.push(next);
			if (next.verdict === "good") {
				for (const node of overtaken) recordLostHedge(node);
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
		const header = traits.needsBlockHash === undefined ? anyBlock : headers.get(traits.needsBlockHash);
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
			if (more !== 0) backOff(more > 0 ? best.node : other.node, "contradicts");
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
		const isLeading = (node: NodeState) => node === leader && rank(node) < 2;
		if (!traits.isHeadPoll) {
			return [...ordered.filter(isLeading), ...ordered.filter((node) => !isLeading(node))];
		}
		polls++;
		// If the last poll brought nothing new, its node may have stopped, so this poll goes to another one.
		const turn = unchangedPolls > 0 ? unchangedPolls : polls % comparedPolls === 0 ? 1 : 0;
		const awake = ordered.filter((node) => !isResting(node, now));
		const chosen = awake[turn % Math.max(awake.length, 1)];
		return chosen ? [chosen, ...ordered.filter((node) => node !== chosen)] : ordered;
	}

	/** Sends a call to a node after checking that the node has the block that the call needs. */
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

	/** Sends a call to a node, after the node has shown once that it belongs to the chain. */
	async function askOurs(node: NodeState, call: NodeCall): Promise<NodeAnswer> {
		if (!node.isOurs && nodes.length > 1) {
			const shown = await askOne(node, kind.identity.call);
			if (shown.kind !== "result") return shown;
			if (!kind.identity.isOurs(shown.result)) {
				backOff(node, "other chain");
				const error = new Error(`${node.host} belongs to another chain: remove it from the nodes`);
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
		if (isLeap(height)) {
			backOff(node, "contradicts");
			const error = new Error(`${node.host} tells of block ${height}, far beyond block ${seen.head}`);
			return { node, verdict: "failed", answer: { kind: "failed", isLimited: false, error }, height: 0 };
		}
		if (block) {
			noteBlockHash(node, block.hash);
			noteHeader(block);
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
		if (head !== undefined && head >= seen.head) leader = node;
		if (traits.isHeadPoll && call !== kind.headCall && head !== undefined) notePoll(head);
		noteShown({ head, final });
		return { node, verdict: "good", answer, height };
	}

	/**
	 * Returns true if no chain can have come so far since the last block. Such a height would make the other nodes look
	 * behind.
	 */
	function isLeap(height: number): boolean {
		if (isAlone || seen.head === 0) return false;
		const seconds = (nowMs() - seen.atMs) / 1_000;
		return height > seen.head + maxLeap.blocks + maxLeap.perSecond * seconds;
	}

	function notePoll(head: number): void {
		unchangedPolls = head > polledHead ? 0 : unchangedPolls + 1;
		polledHead = head;
	}

	function noteShown({ head, final }: { head: number | undefined; final: number | undefined }): void {
		if (head !== undefined && (head >= seen.head || isAlone)) Object.assign(seen, { head, atMs: nowMs() });
		if (final !== undefined && (final >= seen.final || isAlone)) seen.final = final;
	}

	function noteHeader({ hash, logsBloom }: ShownBlock): void {
		if (headers.has(hash)) return;
		headers.set(hash, { hash, ...(logsBloom && { logsBloom }) });
		const [oldest] = headers.keys();
		if (headers.size > headersKept && oldest !== undefined) headers.delete(oldest);
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

	/** Records that another node answered first although it got the call later. Once may be chance. */
	function recordLostHedge(node: NodeState): void {
		node.lostHedges++;
		if (node.lostHedges >= 2) backOff(node, "slow");
	}

	/** Accepts the highest of the answers, because the chain itself has gone back. */
	function accept(stale: readonly Judged[]): Judged {
		const [highest] = stale.toSorted((one, other) => other.height - one.height);
		const best = highest as Judged;
		if (best.height > 0) {
			const { head, final } = best.node;
			Object.assign(seen, { head, final: Math.min(seen.final, final, head), atMs: nowMs() });
		}
		return best;
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

/**
 * Returns the judgement of a node that did not get the caller's call. Only its failure can be returned to the caller.
 */
function unfit(shown: Judged): Judged {
	const isFailed = shown.verdict === "failed";
	return { ...shown, verdict: isFailed ? "failed" : "stale", answer: isFailed ? shown.answer : undefined };
}

function isLimited(answer: NodeAnswer | undefined): boolean {
	if (answer?.kind === "failed") return answer.isLimited;
	return answer?.kind === "refused" && refusalKind(answer) === "limited";
}

/** Returns an answer as the node gave it. Throws if the node gave none. */
function given(answer: NodeAnswer): unknown {
	if (answer.kind === "result") return answer.value;
	if (answer.kind === "refused") return answer.give();
	throw answer.error;
}
