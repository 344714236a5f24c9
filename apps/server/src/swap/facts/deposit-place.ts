import type { Hex } from "viem";

export type DepositPlace = { chainId: number; blockNumber: number; blockHash: Hex; transactionHash: Hex };
