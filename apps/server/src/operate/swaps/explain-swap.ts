import { toChainId, unpackDeadlines } from "@geoswap/protocol";
import { followedWithinSeconds } from "../../api/route/ready-checks.ts";
import type { Database } from "../../database/database.ts";
import type { Named, Row } from "../../database/rows.ts";
import { type Decided, decideSwap, holdBack, type Permitted, permitAll } from "../../round/decide-swap.ts";
import { type Look, lookAtSwap } from "../../round/load-swap-facts.ts";
import { capsOf, fillOf, needsReservation } from "../../round/take-holds.ts";
import { needsAgreement } from "../../swap/decide/agreement.ts";
import type { Action, Fact, Hold } from "../../swap/decide/decision.ts";
import { depthBlocks, isFinal } from "../../swap/decide/depth.ts";
import { factWords, type Todo } from "../../swap/decide/fact-words.ts";
import { attestersWanted, type PolicyConfig, swapPolicy } from "../../swap/decide/swap-policy.ts";
import { swapView } from "../../swap/decide/swap-view.ts";
import type { ChainHead, WaitFor } from "../../swap/facts/facts.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { type Pause, readPauses } from "../../swap/pause/pauses.ts";
import { type HistoryJob, readHistory, type SwapHistory } from "./read-history.ts";
import { type SwapView, viewSwap } from "./swap-view.ts";

export type Explanation = {
	swap: SwapView;
	/**
	 * The fact that a round finds for the swap now. `ended` if no round takes it any more, `stuck` if one would fail.
	 */
	fact: Fact | "ended" | "stuck";
	means: string;
	/** The facts that the decision depends on, in sentences. */
	facts: string[];
	/** The actions that a round would take now. Empty if it would only wait. */
	actions: string[];
	/** The events that the swap waits for, and the latest time of the next round. */
	waitsFor: string[];
	/** The last round's fact. Null if no round has taken the swap yet. */
	lastFact: string | null;
	/** The number of consecutive rounds that failed over this swap. */
	failures: number;
	jobs: HistoryJob[];
	/** Pauses of its chains. Only those with `holdsUp` keep it from progressing. */
	pauses: (Pause & { holdsUp: boolean })[];
	/** Advice for an operator. Empty if nothing is needed. */
	todo: Todo[];
};

type Context = { config: PolicyConfig; nowMs: number };

/**
 * Times after which something is wrong. By then a running round or lane has taken its work, and a block has included
 * what was sent.
 */
const roundLateMs = 15_000;
const laneLateMs = 15_000;
const blockLateMs = 60_000;

/**
 * Reads a swap's facts as a round does, and returns what a round would do now and why nothing happens until then.
 * Writes and locks nothing.
 */
export async function explainSwap(
	db: Database,
	swap: SwapRecord,
	{ config, nowMs }: Context,
): Promise<Explanation> {
	const history = await readHistory(db, swap);
	const chainIds = [swap.order.originChainId, swap.order.destinationChainId].map(toChainId);
	const pauses = (await readPauses(db)).filter(({ chainId }) => chainIds.includes(chainId));
	const attestersOf = (order: SwapRecord["order"]) => attestersWanted(config, order);
	const look = await lookAtSwap(db, { swapId: swap.id, attestersOf, nowMs });
	const wait = await readWait(db, swap.id);
	const common = {
		swap: viewSwap(swap, config),
		lastFact: look?.wait.fact ?? history.facts.at(-1)?.fact ?? null,
		failures: wait?.failures ?? 0,
		jobs: history.jobs,
		pauses: pauses.map((pause) => ({ ...pause, holdsUp: false })),
		facts: [],
		actions: [],
		waitsFor: [],
	};
	if (swap.endedAt) {
		return { ...common, fact: "ended", means: endOf(swap), todo: [] };
	}
	if (!look || !wait) {
		return {
			...common,
			fact: "stuck",
			means: "The swap has not ended, and the database has no time for its next round.",
			todo: [{ what: "Make every unfinished swap due.", command: "geoswapd restored" }],
		};
	}
	let permitted: Permitted;
	try {
		permitted = decideWithHolds(config, look, { pauses, nowMs });
	} catch (error) {
		return {
			...common,
			fact: "stuck",
			means: `A round cannot decide about this swap: ${(error as Error).message}`,
			todo: [{ what: `Search the worker's log for ${swap.id}.` }],
		};
	}
	const { fact } = permitted.decision;
	const { means, todo } = factWords[fact];
	const held = pauses.map((pause) => ({
		...pause,
		holdsUp: pause.cause === "finality" && fact === "finality-broken",
	}));
	return {
		...common,
		fact,
		means,
		facts: describeFacts(permitted, { config, nowMs }),
		actions: permitted.decision.actions.map(describeAction),
		waitsFor: describeWait(wait, permitted, nowMs),
		pauses: held,
		todo: [
			...lateRound(wait, swap, nowMs),
			...lateHeads(permitted, nowMs),
			...(todo ? [todo] : []),
			...held.filter(({ holdsUp }) => holdsUp).map(liftTodo),
			...history.jobs.flatMap((job) => lateJob(job, history, permitted, { config, nowMs })),
		],
	};
}

/**
 * Decides as a round does. Some reasons that hold a fill back are known to a round only while it holds locks or has
 * prices in memory, so the last round's reason is assumed to persist.
 */
function decideWithHolds(
	config: PolicyConfig,
	look: Look,
	{ pauses, nowMs }: { pauses: readonly Pause[]; nowMs: number },
): Permitted {
	const decided = decideSwap(config, look, nowMs);
	const last = look.wait.fact;
	let hold: Hold | undefined;
	if (fillOf(decided) && pauses.some(({ cause }) => cause === "finality")) hold = "finality-broken";
	else if (capsOf(decided) && last === "exposure-cap") hold = "exposure-cap";
	else if (needsReservation(decided) && last === "price-unknown") hold = "price-unknown";
	return hold ? holdBack(decided, hold) : permitAll(decided);
}

type WaitRow = { dueAt: Date; wait: WaitFor; failures: number };

const nextLookColumns =
	"due_at, head_chain_id, head_number, finalized_chain_id, finalized_number, failed_rounds";

function blockOf(name: "head" | "finalized", chainId: number | null, number: number | null): WaitFor {
	return chainId === null || number === null ? {} : { [name]: { chainId, number } };
}

/** Reads when a round takes the swap next. */
async function readWait(db: Database, swapId: string): Promise<WaitRow | undefined> {
	const { rows } = await db.query<Row<"waits", Named<typeof nextLookColumns>>>(
		`select ${nextLookColumns} from waits where swap_id = $1`,
		[swapId],
	);
	const [row] = rows;
	if (!row) return undefined;
	return {
		dueAt: row.due_at,
		failures: row.failed_rounds,
		wait: {
			...blockOf("head", row.head_chain_id, row.head_number),
			...blockOf("finalized", row.finalized_chain_id, row.finalized_number),
		},
	};
}

function describeWait(
	{ dueAt, wait: { head, finalized } }: WaitRow,
	permitted: Permitted,
	nowMs: number,
): string[] {
	const headNow = head && headOf(permitted, head.chainId)?.number;
	const finalNow = finalized && headOf(permitted, finalized.chainId)?.finalizedNumber;
	const isReached =
		(head && headNow !== undefined && headNow >= head.number) ||
		(finalized && finalNow !== undefined && finalNow >= finalized.number);
	if (isReached) return ["the next round: a block that it waited for is here"];
	if (dueAt.getTime() <= nowMs) return [`the next round, which was due ${secondsAgo(dueAt, nowMs)}`];
	return [
		...(head ? [`block ${head.number} of chain ${head.chainId}, which is at ${headNow}`] : []),
		...(finalized
			? [`block ${finalized.number} of chain ${finalized.chainId} to be final; ${finalNow} is`]
			: []),
		...jobWaits(permitted),
		`the next round runs at the latest at ${dueAt.toISOString()}, ${secondsUntil(dueAt, nowMs)}`,
	];
}

/** Returns the head of one of the swap's chains. */
function headOf({ facts }: Permitted, chainId: number): ChainHead | undefined {
	return [facts?.origin, facts?.destination].find((head) => head?.chainId === chainId);
}

/** Returns which jobs are in flight. Their end wakes the swap. */
function jobWaits({ facts }: Permitted): string[] {
	return Object.entries(facts?.jobs ?? {})
		.filter(([, job]) => job.state === "queued" || job.state === "sent" || job.state === "unattested")
		.map(([kind, { state, chainId }]) => `its job ${kind} on chain ${chainId}, which is ${state}`);
}

function lateRound({ dueAt, failures }: WaitRow, { id }: SwapRecord, nowMs: number): Todo[] {
	if (failures > 0) {
		return [{ what: `Rounds fail over this swap, ${failures} in a row. Search the worker's log for ${id}.` }];
	}
	if (nowMs - dueAt.getTime() < roundLateMs) return [];
	return [
		{
			what: `A round should have run for this swap ${secondsAgo(dueAt, nowMs)}. Check that a worker runs, and read its log.`,
			command: "geoswapd worker",
		},
	];
}

function lateHeads({ facts }: Permitted, nowMs: number): Todo[] {
	const heads = facts ? [facts.origin, facts.destination] : [];
	const late = heads.filter(({ timestamp }) => nowMs / 1_000 - timestamp >= followedWithinSeconds);
	if (late.length === 0) return [];
	const chains = [...new Set(late.map(({ chainId }) => chainId))].join(" and ");
	const what = `No new block of chain ${chains} was read for ${followedWithinSeconds} s. Check that a worker runs, and that the endpoint answers.`;
	return [{ what, command: "geoswapd config check" }];
}

function liftTodo({ chainId, reason }: Pause): Todo {
	return {
		what: `Find out what chain ${chainId} dropped (${reason}); then lift its pause.`,
		command: `geoswapd pauses lift ${chainId} --cause finality --by NAME --reason TEXT`,
	};
}

/** Returns what delays a job, if it takes longer than it should. */
function lateJob(
	job: HistoryJob,
	{ transactions }: SwapHistory,
	permitted: Permitted,
	{ config, nowMs }: Context,
): Todo[] {
	const { kind, chainId, state, relayer, nonce, notBeforeBlock } = job;
	const { facts, swap } = permitted;
	const name = `The job ${kind} on chain ${chainId}`;
	const command = "geoswapd config check";
	const { threshold } = attestersWanted(config, swap.order);
	if (state === "unattested" && facts && facts.attestersAlive < threshold) {
		const what = `${name} needs the signatures of ${threshold} attesters, and ${facts.attestersAlive} are alive. Start the others; this command names them.`;
		return [{ what, command }];
	}
	// Attesters that decline a job move it behind the others, which changes its `updatedAt`.
	const since = state === "unattested" ? job.createdAt : job.updatedAt;
	if (nowMs - since.getTime() < (state === "queued" ? laneLateMs : blockLateMs)) return [];
	const ago = secondsAgo(since, nowMs);
	switch (state) {
		case "unattested": {
			const what = `${name} was handed to the attesters ${ago}, and enough of them are alive. Their logs show why they do not sign.`;
			return [{ what }];
		}
		case "queued": {
			const head = headOf(permitted, chainId);
			if (head && notBeforeBlock > head.number) {
				return [
					{ what: `${name} was put back until block ${notBeforeBlock}; the chain is at ${head.number}.` },
				];
			}
			const what = `${name} was queued ${ago}, and no lane has taken it. Check that a worker runs, and that its relayers can pay for gas.`;
			return [{ what, command }];
		}
		case "sent": {
			const last = transactions.findLast((one) => one.chainId === chainId && one.nonce === nonce);
			const what = `${name} was sent ${ago}, and no block has taken its transaction ${last?.hash ?? ""}. Check whether relayer ${relayer} can pay for gas.`;
			return [{ what, command }];
		}
		case "done":
		case "refused":
			return [];
	}
}

function endOf({ status, failure }: SwapRecord): string {
	const why = failure ? ` ${failure.message}` : "";
	return `The swap has ended as ${status}, and that is final.${why}`;
}

function describeAction(action: Action): string {
	switch (action.do) {
		case "advance":
			return `moves the swap to ${action.path.join(", then ")}`;
		case "note":
			return `notes ${Object.keys(action.notes).join(", ")}`;
		case "give-up":
			return `gives up on the delivery: ${action.code}`;
		case "queue":
			return `queues the job ${action.kind}${"attested" in action && action.attested ? ", to be signed for by attesters" : ""}`;
		case "withdraw":
			return `withdraws the job ${action.kind}`;
		case "reserve":
			return "reserves inventory at the current price, or gives up";
		case "unreserve":
			return "gives back the reserved inventory";
	}
}

/** Describes the facts that a decision depends on, one sentence a line. */
function describeFacts(
	{ swap, facts, wait }: Decided,
	{ config, nowMs }: { config: PolicyConfig; nowMs: number },
): string[] {
	const policy = facts && swapPolicy(config, swap.order);
	if (!policy) return [];
	const view = swapView(facts, policy, nowMs);
	const { origin, destination } = facts;
	const headOf = (name: string) => (name === "Filled" || name === "Voided" ? destination : origin);
	const needed = depthBlocks(view, origin);
	const { openDeadline, fillDeadline, refundAfter } = unpackDeadlines(swap.order.deadlines);
	const fromNow = (seconds: number | bigint) => {
		const time = new Date(Number(seconds) * 1_000);
		return time.getTime() < nowMs ? secondsAgo(time, nowMs) : secondsUntil(time, nowMs);
	};
	return [
		...[...new Map([origin, destination].map((head) => [head.chainId, head])).values()].map((head) =>
			describeHead(head, nowMs),
		),
		...Object.values(facts.events).map(
			(event) => `${event.name} is ${describeDepth(event, headOf(event.name))}`,
		),
		...(facts.events.Opened
			? [`confirmations that a deposit of this value needs: ${needed ?? "it must be final"}`]
			: [`no deposit is on chain ${origin.chainId}`]),
		...(needsAgreement(view)
			? [`second provider: ${facts.crossCheck ? "has the deposit" : (wait.second?.word ?? "no answer yet")}`]
			: []),
		...(facts.events.Filled
			? []
			: [`inventory for the output: ${facts.isReserved ? "reserved" : "not reserved"}`]),
		...(view.isCrossChain
			? [`attesters alive: ${facts.attestersAlive}, needed: ${policy.attesterThreshold}`]
			: []),
		...(swap.givingUp ? [`the delivery was given up: ${swap.givingUp}`] : []),
		`last moment to open: ${fromNow(openDeadline)}, to fill: ${fromNow(fillDeadline)}; anyone may refund: ${fromNow(refundAfter)}`,
	];
}

function describeHead({ chainId, number, timestamp, finalizedNumber }: ChainHead, nowMs: number): string {
	const age = Math.round(nowMs / 1_000 - timestamp);
	return `chain ${chainId} is at block ${number}, ${age} s old; ${finalizedNumber} is final`;
}

function describeDepth(event: { blockNumber: number }, head: ChainHead): string {
	const { blockNumber } = event;
	const depth = isFinal(event, head) ? "final" : `${head.number - blockNumber} blocks deep, not final`;
	return `in block ${blockNumber} of chain ${head.chainId}, ${depth}`;
}

function secondsAgo(time: Date, nowMs: number): string {
	return `${Math.max(0, Math.round((nowMs - time.getTime()) / 1_000))} s ago`;
}

function secondsUntil(time: Date, nowMs: number): string {
	return `in ${Math.max(0, Math.round((time.getTime() - nowMs) / 1_000))} s`;
}
