import type { EvmChain } from "../chain/evm/connect-chain.ts";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { evmChains, solanaChain } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import { expectChainIds } from "../preflight/expect-chain-ids.ts";
import { expectGenesisHash } from "../preflight/expect-genesis-hash.ts";
import { refuseOtherChains } from "../preflight/refuse-other-chains.ts";
import { connectEvmNodes, connectSolanaNodes, type NodeWatching } from "./connect-nodes.ts";

/**
 * Calls to a node per request. A build and a submit make three concurrently, and providers accept batches of this
 * size.
 */
const batchSize = 10;

/** The chains of a process that only reads them. */
export type ApiChains = {
	chains: ReadonlyMap<number, EvmChain>;
	/** Absent if Solana is not offered. */
	solana: SolanaChain | undefined;
};

/** Connects all configured chains without a key. Throws if an endpoint is of another chain, or does not answer. */
export async function connectApiChains(
	config: Pick<Config, "chains">,
	watching: NodeWatching,
): Promise<ApiChains> {
	const onSolana = solanaChain(config);
	const chains = new Map(
		evmChains(config).map((chain) => [chain.chainId, connectEvmNodes(chain, { ...watching, batchSize })]),
	);
	const solana = onSolana && connectSolanaNodes(onSolana, watching);
	await Promise.all([
		expectChainIds([...chains.values()]),
		solana && expectGenesisHash(solana),
		...config.chains.map(refuseOtherChains),
	]);
	return { chains, solana };
}
