import { isSolana, type Order } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { OrderHistory } from "./read/order-history.ts";
import { type ChainEvents, noEvents } from "./read/read-chain-events.ts";
import type { Finding } from "./read/report.ts";
import type { SolanaHistory } from "./read/solana-history.ts";

/**
 * What an audit that found nothing leaves for the next one, so that it reads only what is new: final events and
 * transactions do not change. Of EVM chains only what may still matter is kept: orders that are not over, credits that
 * are not claimed. Of Solana our own transactions are judged again each time, so all that happened to orders that went
 * there or came from there is kept.
 */
export type AuditMemory = {
	/** By chain: all up to this block is accounted for. */
	chains: Map<number, { upTo: number; events: ChainEvents }>;
	/** Final transactions. */
	solana: SolanaHistory | undefined;
	/** The history as it was at two earlier times, oldest first. An audit that reads all anew reads Solana from the first. */
	solanaCheckpoints: { atMs: number; history: SolanaHistory }[];
	/** By order: when a wallet was last seen to hold up its own refund. */
	heldUpAtMs: Map<Hex, number>;
	/** Terms of orders from or to Solana: nobody there writes them down, and swaps that ended are not read again. */
	solanaOrders: Map<Hex, Order>;
	/** What was found and is known. Of what is over it is told again, since nobody looks there before all is read anew. */
	found: Finding[];
	/** When the books were read that were found right, and the newest posting then. */
	clean: { atMs: number; lastPosting: bigint } | undefined;
};

/**
 * Returns a memory that knows nothing, for an audit of everything. What an earlier one knows of Solana up to an hour ago is
 * taken over: anyone can make that history as long as they like, and to read it all would take as long.
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

/** How long a node may take to list a final transaction that it did not list at first. */
const checkpointMs = 3_600_000;

/** Keeps what is known of Solana. Keeps two checkpoints, so that after an hour the older one is at least an hour old. */
export function rememberSolana(memory: AuditMemory, history: SolanaHistory, nowMs: number): void {
	memory.solana = history;
	const newest = memory.solanaCheckpoints.at(-1);
	if (newest && nowMs - newest.atMs < checkpointMs) return;
	memory.solanaCheckpoints = [...memory.solanaCheckpoints.slice(-1), { atMs: nowMs, history }];
}

/** Of a chain's events, those that later ones may have to be judged by. */
export function eventsToKeep(
	events: ChainEvents,
	{
		histories,
		awaited,
	}: {
		histories: ReadonlyMap<Hex, OrderHistory>;
		/** Orders whose swaps the next audit looks at again. */
		awaited: ReadonlySet<Hex>;
	},
): ChainEvents {
	const isKept = ({ orderId }: { orderId: Hex }) => {
		const history = histories.get(orderId);
		return awaited.has(orderId) || !(isOver(history) || isUnlisted(history)) || isOnSolana(history);
	};
	return {
		...noEvents(),
		opened: events.opened.filter(isKept),
		released: events.released.filter(isKept),
		refunded: events.refunded.filter(isKept),
		filled: events.filled.filter(isKept),
		voided: events.voided.filter(isKept),
		...unclaimed(events),
	};
}

/** Whether nothing is left that could happen to an order by the rules. */
function isOver(history: OrderHistory | undefined): boolean {
	if (!history) return true;
	const { opened, released, refunded } = history;
	// A refund that became a credit is paid by a claim.
	const isPaid = refunded.every(({ paid }) => paid) || history.claimed.length > 0;
	return opened.length > 0 && released.length + refunded.length > 0 && isPaid;
}

/** Whether it is a stranger's order with a token that the service does not offer: their `Opened` events are skipped. */
function isUnlisted(history: OrderHistory | undefined): boolean {
	if (!history) return false;
	const { opened, released, refunded, filled, voided } = history;
	const isDecided = released.length + refunded.length > 0;
	return opened.length + filled.length + voided.length === 0 && isDecided;
}

/** Whether something happened to an order on Solana: that is judged with what happened to it elsewhere. */
function isOnSolana(history: OrderHistory | undefined): boolean {
	if (!history) return false;
	const { order, opened, released, refunded, filled, voided } = history;
	// Also where Solana was not read this time.
	if (order && (isSolana(order.originChainId) || isSolana(order.destinationChainId))) return true;
	return [opened, released, refunded, filled, voided].flat().some(({ chainId }) => isSolana(chainId));
}

/** A claim takes all that its beneficiary is owed of a token: what was credited before one is settled with it. */
function unclaimed({ credited, claimed }: ChainEvents): Pick<ChainEvents, "credited" | "claimed"> {
	const keyOf = ({ escrow, token }: { escrow: string; token: string }) => `${escrow}:${token}`;
	const sums = new Map<string, ChainEvents["credited"][number]>();
	for (const [list, sign] of [
		[credited, 1n],
		[claimed, -1n],
	] as const) {
		for (const { chainId, block, escrow, token, amount } of list) {
			const sum = sums.get(keyOf({ escrow, token }))?.amount ?? 0n;
			sums.set(keyOf({ escrow, token }), { chainId, block, escrow, token, amount: sum + sign * amount });
		}
	}
	return { credited: [...sums.values()].filter(({ amount }) => amount !== 0n), claimed: [] };
}
