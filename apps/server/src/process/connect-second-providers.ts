import { connectChain } from "../chain/evm/chain-client.ts";
import { connectSolana } from "../chain/solana/connect-solana.ts";
import type { Config } from "../config/config.ts";
import { createSecondProviders, type SecondProviders } from "../round/second-provider/second-providers.ts";

const timeoutMs = 3_000;

/**
 * Connects the second provider of each chain that has one, without waiting for any: one that is down holds up only the
 * calls to it.
 */
export function connectSecondProviders({
	chains,
	solana,
}: Pick<Config, "chains" | "solana">): SecondProviders {
	return createSecondProviders({
		evm: chains.flatMap(({ secondProvider, ...chain }) =>
			secondProvider ? connectChain({ ...chain, rpcUrl: secondProvider.rpcUrl, timeoutMs }) : [],
		),
		solana:
			solana?.secondProvider && connectSolana({ ...solana, rpcUrl: solana.secondProvider.rpcUrl, timeoutMs }),
	});
}
