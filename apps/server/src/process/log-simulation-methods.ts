import type { EvmChain } from "../chain/evm/connect-chain.ts";
import { simulatorOf } from "../chain/evm/simulate/simulate.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Finds out how each chain's node simulates, and logs it. Waits for nobody: a chain that is away is asked again later.
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
