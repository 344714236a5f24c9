import type { Order, SwapUuid } from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import type { DeskQuote } from "../src/desk/venue.ts";
import type { SignedOp, SignedSolanaOp } from "../src/swap/facts/swap-record.ts";
import type { SwapPlan } from "./plan.ts";

/** One swap of the plan, and all that an outsider knows of it. */
export type SimSwap = {
	index: number;
	plan: SwapPlan;
	/** As its chain writes it. */
	wallet: string;
	recipient: string;
	inputToken: string;
	outputToken: string;
	inputAmount: bigint;
	uuid?: SwapUuid;
	orderId?: Hex;
	order?: Order;
	op?: SignedOp | SignedSolanaOp;
	/** When its submit was answered. */
	submittedAtMs?: number;
	/** `expired`: after a restore its caller was told that nothing was executed, and nothing ever will be. */
	outcome: "not-yet" | "submitted" | "refused" | "unsubmitted" | "expired";
	/** Its row was written after the backup to which the database was set back, and it was submitted again. */
	isLost?: boolean;
	/** What its op token seals. */
	quote?: DeskQuote;
	/** The last moment for a first submit. */
	expiresAtMs?: number;
	/** Where the wallet sends its tokens behind the service's back, if it does. */
	sink?: Address;
};
