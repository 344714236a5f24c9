import type { Milliseconds } from "@geoswap/protocol";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { ConfigError } from "../config/config-error.ts";
import { retryUntil } from "./retry-until.ts";

/** Throws if the endpoint belongs to another cluster than the deployment's, like `expectChainIds` on EVM chains. */
export async function expectGenesisHash(
	{ rpc, deployment }: Pick<SolanaChain, "rpc" | "deployment">,
	{ patienceMs = 10_000 }: { patienceMs?: Milliseconds } = {},
): Promise<void> {
	const actual = await retryUntil(() => rpc.getGenesisHash().send(), performance.now() + patienceMs);
	if (actual === deployment.genesisHash) return;
	throw new ConfigError(
		"solana.nodes",
		actual === undefined
			? "does not answer"
			: `is another cluster, because its genesis hash is ${actual}, but the deployment has ${deployment.genesisHash}`,
	);
}
