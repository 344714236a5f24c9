import { isSolana, type Milliseconds, type Order } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { OrderHistory, SolanaHistory } from "./read/order-history.ts";
import type { Books } from "./read/read-books.ts";
import type { ChainEvents, ChainReading } from "./read/read-chain-events.ts";
import type { Finding } from "./read/report.ts";

/**
 * The state that an audit leaves for the next one, which then reads only what is new, because final events and
 * transactions do not change. For EVM chains a clean audit keeps only what may still matter, which is orders that are
 * not over, the sums of strangers' orders and unclaimed credits. On Solana the service's transactions are checked again
 * each time, so everything that happened to orders from or to Solana is kept.
 */
export type AuditMemory = {
	/** Kept even if a chain could be read only in part, so that the next audit continues there. */
	chains: Map<number, ChainReading>;
	/** Final transactions. */
	solana: SolanaHistory | undefined;
	/** The history at two earlier times, oldest first. A full audit reads Solana from the earlier of the two on. */
	solanaCheckpoints: { atMs: Milliseconds; history: SolanaHistory }[];
	/** The last time at which an audit found that a wallet blocks its own refund, by order. */
	heldUpAtMs: Map<Hex, number>;
	/** Terms of orders from or to Solana, because Solana does not record them and swaps that ended are not read again. */
	solanaOrders: Map<Hex, Order>;
	/** Known findings. Those about records that are over are reported again, because only a full audit rechecks them. */
	found: Finding[];
	/** The time of the last audit that checked every chain and found no new breach, and the newest posting then. */
	clean: { atMs: Milliseconds; lastPosting: bigint } | undefined;
};

/**
 * Returns an empty memory for a full audit. Keeps the earlier memory's history of Solana up to an hour ago, because
 * anyone can make that history arbitrarily long, and reading all of it would take as long.
 */
export function createAuditMemory(earlier?: AuditMemory): AuditMemory {
	return {
		chains: new Map(),
		solana: earlier?.solanaCheckpoints[0]?.history,
		solanaCheckpoints: earlier?.solanaCheckpoints ?? [],
		heldUpAtMs: new Map(earlier?.heldUpAtMs),
		solanaOrders: new Map(),
		found: [],
		clean: undefined,
	};
}

/** Maximum delay until a node lists a final transaction that it did not list at first. */
const checkpointMs = 3_600_000;

/** Stores the history of Solana. Keeps two checkpoints, so that after an hour the older one is at least an hour old. */
export function rememberSolana(memory: AuditMemory, history: SolanaHistory, nowMs: Milliseconds): void {
	memory.solana = history;
	const newest = memory.solanaCheckpoints.at(-1);
	if (newest && nowMs - newest.atMs < checkpointMs) return;
	memory.solanaCheckpoints = [...memory.solanaCheckpoints.slice(-1), { atMs: nowMs, history }];
}

/** Milliseconds by which the clocks that date the end of swaps may differ. */
export const clocksMs = 600_000;

/** Stores what an audit without a new breach has shown, so that the next one need not check it again. */
export function rememberAudit(
	memory: AuditMemory,
	{
		books: { swaps, lastPosting },
		readings,
		histories,
		isComplete,
		nowMs,
	}: {
		books: Pick<Books, "swaps"> & { lastPosting: bigint };
		/** The events and sums that were read from each chain that was checked. */
		readings: readonly ChainReading[];
		histories: ReadonlyMap<Hex, OrderHistory>;
		/** True if all chains were checked. A swap that could not be is read again, regardless of when it ended. */
		isComplete: boolean;
		nowMs: Milliseconds;
	},
): void {
	if (isComplete) memory.clean = { atMs: nowMs, lastPosting };
	const readAgainAfterMs = memory.clean ? memory.clean.atMs - clocksMs : Number.NEGATIVE_INFINITY;
	const awaited = new Set(
		swaps
			.filter(({ endedAtMs }) => endedAtMs === undefined || endedAtMs > readAgainAfterMs)
			.map(({ orderId: id }) => id),
	);
	for (const reading of readings) reading.events = eventsToKeep(reading.events, { histories, awaited });
	for (const { orderId: id, order } of swaps) {
		if (isSolana(order.originChainId) || isSolana(order.destinationChainId))
			memory.solanaOrders.set(id, order);
	}
}

/** Returns the events that may be needed to check later ones. */
function eventsToKeep(
	events: ChainEvents,
	{
		histories,
		awaited,
	}: {
		histories: ReadonlyMap<Hex, OrderHistory>;
		/** Orders whose swaps the next audit checks again. */
		awaited: ReadonlySet<Hex>;
	},
): ChainEvents {
	const isKept = ({ orderId }: { orderId: Hex }) => {
		const history = histories.get(orderId);
		return awaited.has(orderId) || !isOver(history) || isOnSolana(history);
	};
	const opened = events.opened.filter(isKept);
	const claims = new Set(opened.flatMap(({ orderId }) => histories.get(orderId)?.claimed ?? []));
	return {
		opened,
		released: events.released.filter(isKept),
		refunded: events.refunded.filter(isKept),
		claimed: new Map([...events.claimed].filter(([, claim]) => claims.has(claim))),
		filled: events.filled.filter(isKept),
		voided: events.voided.filter(isKept),
	};
}

/** Returns true if nothing more can happen to an order by the rules. */
function isOver(history: OrderHistory | undefined): boolean {
	if (!history) return true;
	const { opened, released, refunded } = history;
	// A refund that became a credit is paid by a claim.
	const isPaid = refunded.every(({ paid }) => paid) || history.claimed.length > 0;
	return opened.length > 0 && released.length + refunded.length > 0 && isPaid;
}

/** Returns true if something happened to an order on Solana. It is checked with what happened to it elsewhere. */
function isOnSolana(history: OrderHistory | undefined): boolean {
	if (!history) return false;
	const { order, opened, released, refunded, filled, voided } = history;
	// This is also true if Solana was not read in this audit.
	if (order && (isSolana(order.originChainId) || isSolana(order.destinationChainId))) return true;
	return [opened, released, refunded, filled, voided].flat().some(({ chainId }) => isSolana(chainId));
}

/** Returns the key by which a breach is accepted. One that grows has another key, so only the known one is accepted. */
export function breachKey({ invariant, message, orderId }: Finding): string {
	return [invariant, message, orderId ?? ""].join(" ").trim();
}
