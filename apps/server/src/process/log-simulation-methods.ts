import type { EvmChain } from "../chain/evm/connect-chain.ts";
import { simulatorOf } from "../chain/evm/simulate/simulate.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Detects how each chain's node simulates, and logs it. Does not wait for the result. A chain that is not reachable
 * is retried later.
 */
export function logSimulationMethods(chains: Iterable<EvmChain>, log: Log): void {
	for (const chain of chains) {
		const { chainId } = chain;
		simulatorOf(chain).then(
			({ method, takesAuthorizations, refused }) =>
				log.info({ chainId, method, takesAuthorizations, refused }, "transactions are simulated"),
			(err: unknown) => log.warn({ chainId, err }, "it is not known yet how to simulate transactions"),
		);
	}
}
