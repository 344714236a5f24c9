import type { WaitFor } from "../facts/wait-for.ts";
import type { Action } from "./decision.ts";
import type { OrderView } from "./order-view.ts";

/** The questions about a swap whose answers depend on the kind of its chains. All of them are pure. */
export type ChainRules = { origin: OriginRules; destination: DestinationRules };

/** The questions about the chain that an input comes from. */
export type OriginRules = {
	/** Whether the order cannot be opened in any block that is still to come. */
	isOpenExpired: (view: OrderView) => boolean;
	/** What to wait for until the order cannot be opened any more. */
	untilOpenExpired: (view: OrderView) => { wait: WaitFor };
	/** The job that sends the op while it can open the order, or takes that back. */
	openAgain: (view: OrderView) => Action[];
	/** Whether a deposit that the chain drops now could be made again in time. */
	canBringBack: (view: OrderView) => boolean;
	/**
	 * Whether the service's own key holds all inputs, and no contract knows whose is whose. Then nobody attests anything,
	 * and nothing is paid out for a deposit that the chain can still drop: that would be somebody else's input. Nor is
	 * anything paid back on one provider's word.
	 */
	isCustodial: boolean;
};

/** The questions about the chain that an output goes to. */
export type DestinationRules = {
	/** Whether the order cannot be filled in any block that is still to come. */
	isFillExpired: (view: OrderView) => boolean;
	/** What to wait for until the order cannot be filled any more. */
	untilFillExpired: (view: OrderView) => { wait: WaitFor };
	/** How long before the fill deadline the last fill may be signed. */
	fillMarginSeconds: (view: OrderView) => number;
	/** Whether an order that was not filled by its deadline is closed by that. */
	closesByTime: boolean;
	/** Whether on one chain the refund itself closes the order, as only one of payout and refund can land. */
	refundCloses: boolean;
};
