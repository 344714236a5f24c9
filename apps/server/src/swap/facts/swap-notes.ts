import type { Amount, SwapStage, SwapStatus } from "@geoswap/protocol";
import type { Hex } from "viem";

/** A stage, or a status that ends them. */
export type Move = SwapStage | Exclude<SwapStatus, "pending">;

/** Facts from the chains to write to a swap's row. Null clears a value that is no longer true. */
export type Notes = {
	originTxHash?: Hex | null;
	deliveryTxHash?: Hex | null;
	refundTxHash?: Hex | null;
	deliveredAmount?: Amount | null;
};
