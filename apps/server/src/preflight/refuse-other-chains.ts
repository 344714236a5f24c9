import type { Milliseconds } from "@geoswap/protocol";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { connectSolana } from "../chain/solana/connect-solana.ts";
import type { ChainConfig } from "../config/chain-config.ts";
import { ConfigError } from "../config/config-error.ts";

/** A node that does not answer must not delay the start for long, since the others may be enough. */
const timeoutMs: Milliseconds = 3_000;

/**
 * Throws if one of several nodes belongs to another chain. Such a node would be excluded with only an error in the
 * log, and an operator should notice at the start. A node that does not answer is not refused.
 */
export async function refuseOtherChains(config: ChainConfig): Promise<void> {
	if (config.nodes.length === 1) return;
	await Promise.all(
		config.nodes.map(async ({ url }, i) => {
			const actual = await identify(config, url).catch(() => undefined);
			const expected = config.kind === "evm" ? config.chainId : config.deployment.genesisHash;
			if (actual === undefined || actual === expected) return;
			const path = config.kind === "evm" ? `chains.${config.chainId}.nodes.${i}` : `solana.nodes.${i}`;
			const what =
				config.kind === "evm" ? `chain ${actual}` : `another cluster, because its genesis hash is ${actual}`;
			throw new ConfigError(path, `${new URL(url).origin} is ${what}`);
		}),
	);
}

function identify(config: ChainConfig, rpcUrl: string): Promise<number | string> {
	return config.kind === "evm"
		? connectChain({ ...config, rpcUrl, timeoutMs }).client.getChainId()
		: connectSolana({ ...config, rpcUrl, timeoutMs })
				.rpc.getGenesisHash()
				.send();
}
