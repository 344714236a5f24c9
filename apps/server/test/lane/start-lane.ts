import type { EvmChain } from "../../src/chain/evm/connect-chain.ts";
import { laneKey } from "../../src/durable/poke-targets.ts";
import { createLane } from "../../src/lane/evm/create-lane.ts";
import type { LaneChain, LaneDeps } from "../../src/lane/evm/lane.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { LaneScene } from "./lane-scene.ts";
import { plainPayments } from "./payment-facts.ts";

/** Returns what lanes need beside their chain, in a service that keeps the price of every fill. */
export function laneDeps({ pool }: Pick<LaneScene, "pool">): LaneDeps {
	return {
		pool,
		engine: { poke: async () => {} },
		freshMinimum: () => 0n,
		deliveryNow: ({ delivery }) => delivery,
		tipNow: () => undefined,
		payments: plainPayments,
		nowMs: Date.now,
		log: createLog({ level: "silent", process: "test" }),
	};
}

/** Starts the lanes of a chain, as a process does. Returns a function that runs the lane of a relayer once. */
export function startLane(
	scene: Pick<LaneScene, "pool" | "relayers">,
	chain: EvmChain,
	{
		policy,
		accounts = scene.relayers,
		...changes
	}: { policy?: Partial<LaneChain["policy"]>; accounts?: LaneChain["accounts"] } & Partial<LaneDeps> = {},
): (relayer?: number) => Promise<void> {
	const run = createLane({
		...laneDeps(scene),
		...changes,
		chain,
		policy: {
			bundleSize: 1,
			replaceAfterBlocks: 50,
			minimumTipWei: "1000000",
			finalitySeconds: 5,
			...policy,
		},
		accounts,
	});
	return (relayer = 0) =>
		run(laneKey({ chainId: chain.chainId, relayer: accounts[relayer]?.address ?? "0x" }));
}
