import { SwapError } from "@geoswap/protocol";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { isPassingFailure } from "../../chain/solana/send/send-raw.ts";
import type { TransactionSimulation } from "../../chain/solana/send/simulate-transaction.ts";

/** Throws if the order's transaction would fail. A failure that the caller cannot fix may be retried unchanged. */
export function checkSimulation(
	{ chainId, deployment }: SolanaChain,
	simulation: TransactionSimulation,
): void {
	if (simulation.ok) return;
	if (isPassingFailure(simulation, deployment)) {
		const cause = new Error(`the transaction would fail: ${simulation.reason}`);
		throw new SwapError("UPSTREAM_UNAVAILABLE", { upstream: `chain ${chainId}` }, { cause });
	}
	throw new SwapError("SIMULATION_FAILED", { reason: simulation.reason });
}
