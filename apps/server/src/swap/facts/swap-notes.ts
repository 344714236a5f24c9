import type { SwapStage, SwapStatus } from "@geoswap/protocol";
import type { Hex } from "viem";

/** A stage, or a status that ends them. */
export type Move = SwapStage | Exclude<SwapStatus, "pending">;

/** What the row of a swap is told of the chains. Null: what it said is not so any more. */
export type Notes = {
	originTxHash?: Hex | null;
	deliveryTxHash?: Hex | null;
	refundTxHash?: Hex | null;
	deliveredAmount?: bigint | null;
};
