import type { EvmChain } from "../../chain/evm/chain-client.ts";
import { ConfigError } from "../../config/config-error.ts";
import { askUntil } from "./ask-until.ts";

/**
 * Throws where an endpoint is another chain's than the configuration says: what is read there would be taken for the
 * truth. One that does not answer is asked again for a while, since chain and service may be starting together.
 */
export async function expectChainIds(
	chains: readonly EvmChain[],
	{ patienceMs = 10_000 }: { patienceMs?: number } = {},
): Promise<void> {
	const deadlineMs = performance.now() + patienceMs;
	await Promise.all(
		chains.map(async ({ chainId, client }) => {
			const actual = await askUntil(() => client.getChainId(), deadlineMs);
			if (actual === chainId) return;
			// The address may hold a key: its origin is enough to find it by.
			const { origin } = new URL(client.transport.url ?? "");
			throw new ConfigError(
				`chains.${chainId}.rpcUrl`,
				actual === undefined ? `${origin} does not answer` : `${origin} is chain ${actual}`,
			);
		}),
	);
}
