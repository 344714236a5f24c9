import type { WaitFor } from "../facts/wait-for.ts";
import type { Action } from "./decision.ts";
import type { OrderView } from "./order-view.ts";

/** The questions about a swap whose answers depend on the kind of its chains. All of them are pure. */
export type ChainRules = { origin: OriginRules; destination: DestinationRules };

/** The questions about the chain that an input comes from. */
export type OriginRules = {
	/** Returns whether the order cannot be opened in any future block. */
	isOpenExpired: (view: OrderView) => boolean;
	/** Returns the wait until the order can no longer be opened. */
	untilOpenExpired: (view: OrderView) => { wait: WaitFor };
	/** Returns the action that queues the open while the op can open the order, or that withdraws it. */
	openAgain: (view: OrderView) => Action[];
	/** Returns whether a deposit that the chain drops now could be made again in time. */
	canBringBack: (view: OrderView) => boolean;
	/**
	 * True if the service's own key holds all inputs, and no contract knows whose is whose. Then nobody attests anything.
	 * Nothing is paid out for a deposit that the chain can still drop, since that would be somebody else's input, and
	 * nothing is refunded on one provider's word.
	 */
	isCustodial: boolean;
};

/** The questions about the chain that an output goes to. */
export type DestinationRules = {
	/** Returns whether the order cannot be filled in any future block. */
	isFillExpired: (view: OrderView) => boolean;
	/** Returns the wait until the order can no longer be filled. */
	untilFillExpired: (view: OrderView) => { wait: WaitFor };
	/** Returns how long before the fill deadline the last fill may be signed. */
	fillMarginSeconds: (view: OrderView) => number;
	/** True if an order that was not filled by its deadline is closed by that. */
	closesByTime: boolean;
	/** True if on one chain the refund itself closes the order, as only one of payout and refund can land. */
	refundCloses: boolean;
};
