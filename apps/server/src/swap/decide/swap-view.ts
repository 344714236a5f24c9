import type { Milliseconds } from "@geoswap/protocol";
import type { ChainHead, OrderEvent, Sighting } from "../facts/facts.ts";
import type { ChainRules, DestinationRules, OriginRules } from "./chain-rules.ts";
import { blocksNeeded, isDeepAt, isFinalAt, needsSecondProvider } from "./deposit-depth.ts";
import { evmRules } from "./evm-rules.ts";
import { type KnownFacts, type OrderView, orderView } from "./order-view.ts";
import { solanaRules } from "./solana-rules.ts";
import type { ChainPolicy, SwapPolicy } from "./swap-policy.ts";

/** The facts, and what follows from them and the clocks alone. */
export type SwapView = OrderView & {
	originRules: OriginRules;
	destinationRules: DestinationRules;
	isPending: boolean;
	/** True if a signed transaction may still fill the order. */
	isFillOut: boolean;
	/** True if the order cannot be opened in any future block. */
	isOpenExpired: boolean;
	/** True if the order cannot be filled in any future block. */
	isFillExpired: boolean;
};

const rulesOf: Record<ChainPolicy["kind"], ChainRules> = { evm: evmRules, solana: solanaRules };

export function swapView(facts: KnownFacts, policy: SwapPolicy, nowMs: Milliseconds): SwapView {
	const view = orderView(facts, policy, nowMs);
	const originRules = rulesOf[policy.origin.kind].origin;
	const destinationRules = rulesOf[policy.destination.kind].destination;
	const isFillExpired = destinationRules.isFillExpired(view);
	const { fill } = facts.jobs;
	return {
		...view,
		originRules,
		destinationRules,
		isPending: facts.swap.status === "pending",
		isFillOut: !isFillExpired && (fill?.state === "sent" || fill?.state === "done"),
		isOpenExpired: originRules.isOpenExpired(view),
		isFillExpired,
	};
}

/** Returns the time in Unix seconds from which on no fill is signed. */
export function lastFillAt(view: SwapView): number {
	return view.fillDeadline - view.destinationRules.fillMarginSeconds(view);
}

export function isTooLateToFill(view: SwapView): boolean {
	return Math.max(view.destination.timestamp, view.nowMs / 1_000) >= lastFillAt(view);
}

/** Returns whether the deposit is final, or deep enough for its value with time to bring it back if it is dropped. */
export function isDeposited(view: SwapView, opened: OrderEvent): boolean {
	return isFinal(opened, view.origin) || isDeepInTime(view, opened);
}

/** Returns whether the swap's value requires a second provider's word. */
export function needsAgreement({ swap, policy: { origin } }: SwapView): boolean {
	return needsSecondProvider(origin, swap.valueUsdCents);
}

/** Returns whether the second provider, by its own head, has the deposit as deep as the first one must. */
export function isAgreed(view: SwapView, opened: OrderEvent<"Opened">): boolean {
	const { sighting } = view;
	if (!sighting) return false;
	const { headNumber, finalizedNumber } = sightToAskFor(view, opened);
	const isFarEnough = headNumber !== undefined && sighting.headNumber >= headNumber;
	return isFarEnough || sighting.finalizedNumber >= finalizedNumber;
}

/** Returns how far the second provider must be: with its final block, or, if that is enough, with its head. */
export function sightToAskFor(view: SwapView, opened: OrderEvent<"Opened">): Partial<Sighting> & Final {
	const { blockNumber } = opened;
	const blocks = isDeepInTime(view, opened) ? depthBlocks(view, view.origin) : undefined;
	return { finalizedNumber: blockNumber, ...(blocks !== undefined && { headNumber: blockNumber + blocks }) };
}

type Final = Pick<Sighting, "finalizedNumber">;

function isDeepInTime(view: SwapView, opened: OrderEvent): boolean {
	return isDeep(view, opened, view.origin) && view.originRules.canBringBack(view);
}

/** Returns whether the delivery is final, or deep enough for its value with time and stock to repeat it if dropped. */
export function isDelivered(view: SwapView, filled: OrderEvent): boolean {
	if (isFinal(filled, view.destination)) return true;
	// A swap that was given up when its row was recreated, with its order open, is closed if this delivery is dropped.
	if (view.swap.givingUp || !view.isReserved) return false;
	const { destination } = view.policy;
	const secondsLeft = lastFillAt(view) - Math.max(view.destination.timestamp, view.nowMs / 1_000);
	// Another fill is signed only once the dropped one is dead.
	const secondsToFillAgain = destination.finalitySeconds + destination.deadAfterSeconds;
	return isDeep(view, filled, view.destination) && secondsLeft >= secondsToFillAgain;
}

/** Returns whether the head is too old for a healthy chain and follower. Deposits that it still shows may be gone. */
export function isStale({ policy, origin, nowMs }: SwapView, head: ChainHead): boolean {
	const { finalitySeconds } = head.chainId === origin.chainId ? policy.origin : policy.destination;
	return nowMs / 1_000 - head.timestamp > Math.max(60, finalitySeconds / 10);
}

export function isFinal(event: { blockNumber: number }, head: ChainHead): boolean {
	return isFinalAt(event.blockNumber, head);
}

/** Returns whether an event is as deep as the swap's value requires on that chain. */
export function isDeep(view: SwapView, event: { blockNumber: number }, head: ChainHead): boolean {
	return isDeepAt(event.blockNumber, head, depthBlocks(view, head));
}

export function depthBlocks({ swap, policy, origin }: SwapView, head: ChainHead): number | undefined {
	return blocksNeeded(
		head.chainId === origin.chainId ? policy.origin : policy.destination,
		swap.valueUsdCents,
	);
}
