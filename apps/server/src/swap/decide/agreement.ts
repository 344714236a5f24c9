import type { CrossCheck, OrderEvent } from "../facts/facts.ts";
import type { Decision } from "./decision.ts";
import { needsSecondProvider } from "./deposit-policy.ts";
import { depthBlocks, isDeepInTime } from "./depth.ts";
import type { SwapView } from "./swap-view.ts";

/**
 * Milliseconds until the next round of a swap that waits for a second provider, since nothing wakes it when the
 * provider has caught up.
 */
export const secondSightMs = 2_000;

/** Returns whether the swap's value requires a second provider's confirmation. */
export function needsAgreement({ swap, policy: { origin } }: SwapView): boolean {
	return needsSecondProvider(origin, swap.valueUsdCents);
}

/** Returns whether the second provider, by its own head, has the deposit as deep as the first one must. */
function isAgreed(view: SwapView, opened: OrderEvent<"Opened">): boolean {
	const { crossCheck } = view;
	if (!crossCheck) return false;
	const { headNumber, finalizedNumber } = sightToAskFor(view, opened);
	const isFarEnough = headNumber !== undefined && crossCheck.headNumber >= headNumber;
	return isFarEnough || crossCheck.finalizedNumber >= finalizedNumber;
}

/** Returns how far the second provider must be, with its final block or, if that is enough, with its head. */
function sightToAskFor(
	view: SwapView,
	opened: OrderEvent<"Opened">,
): Partial<CrossCheck> & Pick<CrossCheck, "finalizedNumber"> {
	const { blockNumber } = opened;
	const blocks = isDeepInTime(view, opened) ? depthBlocks(view, view.origin) : undefined;
	return { finalizedNumber: blockNumber, ...(blocks !== undefined && { headNumber: blockNumber + blocks }) };
}

/** Returns the deposit to query a second provider for, if its value requires that and it was not found there yet. */
export function depositToSee(view: SwapView, opened: OrderEvent<"Opened">): Pick<Decision, "depositToSee"> {
	if (!needsAgreement(view) || isAgreed(view, opened)) return {};
	const { blockNumber, blockHash, transactionHash } = opened;
	const where = { chainId: view.origin.chainId, blockNumber, blockHash, transactionHash };
	return { depositToSee: { ...where, ...sightToAskFor(view, opened) } };
}
