import { isDevelopmentChain, isDevelopmentCluster } from "@geoswap/keys/development/is-development-chain";
import { evmChains, solanaChain } from "./chain-config.ts";
import type { Config } from "./config.ts";

/** Returns true if every chain is a development chain on one machine. */
export function isDevnet(config: Pick<Config, "chains">): boolean {
	const solana = solanaChain(config);
	const chainIds = evmChains(config).map(({ chainId }) => chainId);
	return chainIds.every(isDevelopmentChain) && (!solana || isDevelopmentCluster(solana.deployment));
}
