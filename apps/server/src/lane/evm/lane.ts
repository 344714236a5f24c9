import type { Amount, Milliseconds, Order, Wei } from "@geoswap/protocol";
import type { LocalAccount } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import type { EvmChainConfig } from "../../config/chain-config.ts";
import type { DatabasePool } from "../../database/database.ts";
import type { DenyList } from "../../deny/deny-list.ts";
import type { Engine } from "../../durable/engine.ts";
import type { LaneId } from "../../job/journal/lane-transactions.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Tracer } from "../../telemetry/tracer.ts";
import type { LaneMetrics } from "../../telemetry/worker-metrics.ts";
import type { LeaseTime } from "../load-lane-state.ts";
import type { PaymentRules } from "../payment-problem.ts";

type LanePolicy = Pick<
	EvmChainConfig,
	"bundleSize" | "replaceAfterBlocks" | "minimumTipWei" | "finalitySeconds"
>;

/** A chain, and the accounts that send transactions there. */
export type LaneChain = {
	chain: EvmChain;
	policy: LanePolicy;
	accounts: readonly LocalAccount[];
	/** Signs the moves of the inventory, and no jobs. Absent if the treasury does not act. */
	treasurer?: LocalAccount | undefined;
};

export type LaneDeps = {
	pool: DatabasePool;
	/** Used to poke a round that processes the swaps of refused jobs. */
	engine: Engine;
	/**
	 * Returns the minimum that a router fill must deliver at current prices, after `inFlight` was spent on the same
	 * token.
	 */
	freshMinimum: (fill: { order: Order; delivery: Delivery; inFlight: Amount }) => bigint;
	/** Returns a fill as it may be signed now. See the desk's function of this name. */
	deliveryNow: (fill: { order: Order; delivery: Delivery }) => Delivery | "below-minimum" | "no-price";
	/** Returns the tip per unit of gas that recent blocks took, within the chain's bounds; undefined if not known yet. */
	tipNow: (chainId: number) => Wei | undefined;
	/** Rules that a payment must keep, beside the facts in the store. */
	payments: Omit<PaymentRules, "settlementToken">;
	/** Absent if no address is denied. */
	denyList?: Pick<DenyList, "findDenied"> | undefined;
	nowMs: () => Milliseconds;
	/** Absent if nothing is traced. */
	tracer?: Tracer | undefined;
	/** Absent if nothing is counted. */
	metrics?: LaneMetrics | undefined;
	log: Log;
};

export type Lane = LaneDeps & {
	id: LaneId;
	chain: EvmChain;
	policy: LanePolicy;
	account: LocalAccount;
	leaseTime: LeaseTime;
};
