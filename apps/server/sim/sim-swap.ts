import type { Order, SwapUuid } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { DeskQuote } from "../src/desk/desk.ts";
import type { SignedOp, SignedSolanaOp } from "../src/swap/facts/swap-record.ts";
import type { SwapPlan } from "./plan.ts";

/** A swap of the plan, with all that is known outside the service about it. */
export type SimSwap = {
	index: number;
	plan: SwapPlan;
	/** The address as its chain writes it. */
	wallet: string;
	recipient: string;
	inputToken: string;
	outputToken: string;
	inputAmount: bigint;
	uuid?: SwapUuid;
	orderId?: Hex;
	order?: Order;
	op?: SignedOp | SignedSolanaOp;
	/** The time at which its submit returned. */
	submittedAtMs?: number;
	/**
	 * `expired` means that after a restore, the API reported to the caller that nothing was executed and nothing ever will
	 * be.
	 */
	outcome: "not-yet" | "submitted" | "refused" | "unsubmitted" | "expired";
	/** True if a restore erased its row, and it was submitted again. */
	isLost?: boolean;
	/** The quote that its op token seals. */
	quote?: DeskQuote;
	/** Deadline for a first submit. */
	expiresAtMs?: number;
	/** The address to which the wallet moves its tokens behind the service's back, if it does. */
	sink?: string;
};
