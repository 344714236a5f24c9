import { unpackDeadlines } from "@geoswap/protocol";
import type { ChainHead, Facts, OrderEvent, SecondWord, Sighting } from "../facts/facts.ts";
import { blocksNeeded, isDeepAt, isFinalAt, needsSecondProvider } from "./deposit-depth.ts";
import type { SwapPolicy } from "./swap-policy.ts";

/** What the chains say, and what a second provider said last, where it was asked. */
export type KnownFacts = Facts & { secondWord?: SecondWord | undefined };

/** The facts, and what follows from them by the clocks alone. */
export type SwapView = KnownFacts & {
	policy: SwapPolicy;
	nowMs: number;
	isPending: boolean;
	isCrossChain: boolean;
	openDeadline: number;
	fillDeadline: number;
	refundAfter: number;
	/** Its events there are transactions of the service's own keys; no contract checks them against each other. */
	isSolanaOrigin: boolean;
	isSolanaDestination: boolean;
	/** A transaction that was signed may still fill it. */
	isFillOut: boolean;
	/** The order cannot be opened in any block that is still to come. */
	isOpenExpired: boolean;
	/** The order cannot be filled in any block that is still to come. */
	isFillExpired: boolean;
};

export function swapView(facts: KnownFacts, policy: SwapPolicy, nowMs: number): SwapView {
	const { swap, destination, jobs } = facts;
	const deadlines = unpackDeadlines(swap.order.deadlines);
	const fillDeadline = Number(deadlines.fillDeadline);
	const openDeadline = Number(deadlines.openDeadline);
	const isSolanaDestination = policy.destination.kind === "solana";
	// On Solana no time closes an order: only its marker does.
	const isFillExpired = !isSolanaDestination && destination.finalizedTimestamp >= fillDeadline;
	return {
		...facts,
		policy,
		nowMs,
		isPending: swap.status === "pending",
		isCrossChain: swap.order.originChainId !== swap.order.destinationChainId,
		isSolanaOrigin: policy.origin.kind === "solana",
		isSolanaDestination,
		openDeadline,
		fillDeadline,
		refundAfter: Number(deadlines.refundAfter),
		isFillOut: !isFillExpired && (jobs.fill?.state === "sent" || jobs.fill?.state === "done"),
		isOpenExpired: isOpenExpired(facts, openDeadline),
		isFillExpired,
	};
}

/**
 * By a final block past the deadline. On Solana by the last height at which the one message could land, and the lane's
 * word: it has asked for that very transaction since. A store that was restored may not know that it was sent.
 */
function isOpenExpired({ swap, origin, jobs }: Facts, openDeadline: number): boolean {
	const lastHeight = lastOpenHeight(swap);
	if (lastHeight === undefined) return origin.finalizedTimestamp > openDeadline;
	return origin.finalizedHeight > lastHeight && jobs.open?.state === "refused";
}

/** The last height at which a Solana wallet's message can land; undefined where the op is of another kind. */
export function lastOpenHeight({ op }: Facts["swap"]): number | undefined {
	return op && "kind" in op ? Number(op.lastValidBlockHeight) : undefined;
}

/**
 * A fill that is dropped by its chain must leave time to see that, and to fill again. On Solana a fill that is signed
 * must be dead by the deadline, if it has not landed.
 */
export function lastFillAt({ fillDeadline, policy: { destination } }: SwapView): number {
	const margin =
		destination.kind === "solana" ? destination.blockhashSeconds.most : destination.finalitySeconds;
	return fillDeadline - margin;
}

export function isTooLateToFill(view: SwapView): boolean {
	return Math.max(view.destination.timestamp, view.nowMs / 1_000) >= lastFillAt(view);
}

/** In which an op that was dropped is seen to be gone, sent again and mined. */
const mostSecondsToBringBack = 60;

/** Deep enough for its value, with time left to bring it back should the chain drop it; or final. */
export function isDeposited(view: SwapView, opened: OrderEvent): boolean {
	return isFinal(opened, view.origin) || isDeepInTime(view, opened);
}

/** Whether its value asks for a second provider's word. */
export function needsAgreement({ swap, policy: { origin } }: SwapView): boolean {
	return needsSecondProvider(origin, swap.valueUsdCents);
}

/** Whether the second provider, by its own head, has the deposit as deep as the first one must. */
export function isAgreed(view: SwapView, opened: OrderEvent<"Opened">): boolean {
	const { sighting } = view;
	if (!sighting) return false;
	const { headNumber, finalizedNumber } = sightToAskFor(view, opened);
	const isFarEnough = headNumber !== undefined && sighting.headNumber >= headNumber;
	return isFarEnough || sighting.finalizedNumber >= finalizedNumber;
}

/** How far the second provider must be: this far with what is final, or, where that is enough, with its head. */
export function sightToAskFor(view: SwapView, opened: OrderEvent<"Opened">): Partial<Sighting> & Final {
	const { blockNumber } = opened;
	const blocks = isDeepInTime(view, opened) ? depthBlocks(view, view.origin) : undefined;
	return { finalizedNumber: blockNumber, ...(blocks !== undefined && { headNumber: blockNumber + blocks }) };
}

type Final = Pick<Sighting, "finalizedNumber">;

function isDeepInTime(view: SwapView, opened: OrderEvent): boolean {
	if (view.isSolanaOrigin) return isDeep(view, opened, view.origin) && canBringBack(view);
	const secondsLeft = view.openDeadline - Math.max(view.origin.timestamp, view.nowMs / 1_000);
	const toBringBack = Math.min(mostSecondsToBringBack, view.policy.origin.finalitySeconds);
	return isDeep(view, opened, view.origin) && secondsLeft >= toBringBack;
}

/**
 * A Solana deposit that is dropped comes back only as the same bytes, while they live: as many blocks must be left to
 * them as are not final now. On one chain nothing binds a payout to the deposit, so that it must be final.
 */
function canBringBack({ swap, origin, isCrossChain }: SwapView): boolean {
	const unfinal = origin.number - origin.finalizedNumber;
	const height = origin.finalizedHeight + unfinal;
	return isCrossChain && (lastOpenHeight(swap) ?? 0) - height >= unfinal;
}

/** Deep enough for its value, with time and stock left to deliver again should the chain drop it; or final. */
export function isDelivered(view: SwapView, filled: OrderEvent): boolean {
	if (isFinal(filled, view.destination)) return true;
	// One that was given up when its row was made anew, its order open, is closed if this delivery is dropped.
	if (view.swap.givingUp || !view.isReserved) return false;
	const { destination } = view.policy;
	const secondsLeft = lastFillAt(view) - Math.max(view.destination.timestamp, view.nowMs / 1_000);
	// On Solana another is signed only once the one that was dropped is dead.
	const toDie = destination.kind === "solana" ? destination.blockhashSeconds.most : 0;
	return isDeep(view, filled, view.destination) && secondsLeft >= destination.finalitySeconds + toDie;
}

/** Longer without a block than a chain that is well, or a follower that is. Deposits may be gone that it still shows. */
export function isStale({ policy, origin, nowMs }: SwapView, head: ChainHead): boolean {
	const { finalitySeconds } = head.chainId === origin.chainId ? policy.origin : policy.destination;
	return nowMs / 1_000 - head.timestamp > Math.max(60, finalitySeconds / 10);
}

export function isFinal(event: { blockNumber: number }, head: ChainHead): boolean {
	return isFinalAt(event.blockNumber, head);
}

/** As deep as the swap's value asks for on that chain. */
export function isDeep(view: SwapView, event: { blockNumber: number }, head: ChainHead): boolean {
	return isDeepAt(event.blockNumber, head, depthBlocks(view, head));
}

export function depthBlocks({ swap, policy, origin }: SwapView, head: ChainHead): number | undefined {
	return blocksNeeded(
		head.chainId === origin.chainId ? policy.origin : policy.destination,
		swap.valueUsdCents,
	);
}
