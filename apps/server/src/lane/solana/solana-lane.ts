import type { TransactionPartialSigner } from "@solana/kit";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import type { SolanaKeys } from "../../chain/solana/send/sign-instructions.ts";
import type { SolanaChainConfig } from "../../config/chain-config.ts";
import type { LaneId } from "../../job/journal/lane-transactions.ts";
import type { LaneDeps } from "../evm/lane.ts";
import type { LeaseTime } from "../load-lane-state.ts";

type SolanaLanePolicy = Pick<
	SolanaChainConfig,
	"bundleSize" | "computePriceMicroLamports" | "finalitySeconds"
>;

export type SolanaLaneDeps = Omit<LaneDeps, "freshMinimum" | "tipNow"> & {
	chain: SolanaChain;
	keys: SolanaKeys;
	policy: SolanaLanePolicy;
};

/** The lane of one fee payer. Its nonces only number transactions, which need a valid blockhash to land. */
export type SolanaLane = SolanaLaneDeps & {
	id: LaneId;
	feePayer: TransactionPartialSigner;
	leaseTime: LeaseTime;
};
