import type { Milliseconds } from "@geoswap/protocol";
import type { EvmChain } from "../chain/evm/connect-chain.ts";
import { ConfigError } from "../config/config-error.ts";
import { retryUntil } from "./retry-until.ts";

/**
 * Throws if an endpoint belongs to another chain than configured, because its data would be trusted. An endpoint that
 * does not answer is retried for a while, since chain and service may be starting together.
 */
export async function expectChainIds(
	chains: readonly EvmChain[],
	{ patienceMs = 10_000 }: { patienceMs?: Milliseconds } = {},
): Promise<void> {
	const deadlineMs = performance.now() + patienceMs;
	await Promise.all(
		chains.map(async ({ chainId, client }) => {
			const actual = await retryUntil(() => client.getChainId(), deadlineMs);
			if (actual === chainId) return;
			// The address may contain a key, and its origin is enough to find it.
			const { origin } = new URL(client.transport.url ?? "");
			throw new ConfigError(
				`chains.${chainId}.nodes`,
				actual === undefined ? `${origin} does not answer` : `${origin} is chain ${actual}`,
			);
		}),
	);
}
