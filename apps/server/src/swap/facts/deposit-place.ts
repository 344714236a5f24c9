import type { Hex } from "viem";

/** Where a deposit is. */
export type DepositPlace = { chainId: number; blockNumber: number; blockHash: Hex; transactionHash: Hex };
