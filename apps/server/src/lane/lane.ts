import type { Order } from "@geoswap/protocol";
import type { LocalAccount } from "viem";
import type { EvmChain } from "../chain/evm/chain-client.ts";
import type { ChainConfig } from "../config.ts";
import type { Engine } from "../durable/durable.ts";
import type { Log } from "../log.ts";
import type { DatabasePool } from "../store/database.ts";
import type { LaneId } from "../store/lane-transactions.ts";
import type { Delivery } from "../store/swap-record.ts";
import type { Tracer } from "../telemetry/tracer.ts";

type LanePolicy = Pick<
	ChainConfig,
	"bundleSize" | "replaceAfterBlocks" | "priorityFeeWei" | "finalitySeconds"
>;

/** A chain, and who sends transactions there. */
export type LaneChain = { chain: EvmChain; policy: LanePolicy; accounts: readonly LocalAccount[] };

export type LaneDeps = {
	pool: DatabasePool;
	/** To wake the swaps of jobs that are refused. */
	engine: Pick<Engine, "raise">;
	/** The least that a fill through the router must deliver at prices of now, once so much was spent on the same token. */
	freshMinimum: (fill: { order: Order; delivery: Delivery; inFlight: bigint }) => bigint;
	nowMs: () => number;
	/** Absent where nothing is traced. */
	tracer?: Tracer | undefined;
	log: Log;
};

export type Lane = LaneDeps & { id: LaneId; chain: EvmChain; policy: LanePolicy; account: LocalAccount };
