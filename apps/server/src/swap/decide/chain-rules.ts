import type { WaitFor } from "../facts/facts.ts";
import type { Action } from "./decision.ts";
import type { OrderView } from "./order-view.ts";

/** The decisions about a swap that depend on the kind of its chains. All of them are pure. */
export type ChainRules = {
	/** Returns whether the order cannot be opened in any future block of its origin. */
	isOpenExpired: (view: OrderView) => boolean;
	/** Returns the wait until the order can no longer be opened. */
	untilOpenExpired: (view: OrderView) => { wait: WaitFor };
	/** Returns the action that queues the open while the op can open the order, or that withdraws it. */
	openAgain: (view: OrderView) => Action[];
	/** Returns whether a deposit that the chain drops now could be made again in time. */
	canBringBack: (view: OrderView) => boolean;
	/** True if within this chain the refund itself closes the order, as only one of payout and refund can land. */
	refundCloses: boolean;
};
