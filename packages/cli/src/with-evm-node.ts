import type { PublicClient } from "viem";
import { CliError } from "./cli-error.ts";
import type { LoadedConfig } from "./config.ts";
import { exitCode } from "./exit-code.ts";
import type { PinnedChain } from "./pinned-assets.ts";

const timeoutMs = 15_000;

/** Returns the configured endpoint of a chain. Throws if there is none. */
export function endpointOf({ rpc }: Pick<LoadedConfig, "rpc">, { chainId, name }: PinnedChain): string {
	const url = rpc[chainId];
	if (url !== undefined) return url;
	throw new CliError(`There is no endpoint for ${name}. Add one: geoswap init --rpc ${chainId}=<url>`, {
		code: "NO_RPC",
		section: "balances",
		details: { chainId },
	});
}

/** Runs calls to a node of an EVM chain. Throws if it does not respond. */
export type EvmNode = <T>(ask: (client: PublicClient) => Promise<T>) => Promise<T>;

/** Runs calls to the configured node of an EVM chain. Throws if the node is on another chain, or does not respond. */
export async function withEvmNode<T>(
	config: Pick<LoadedConfig, "rpc">,
	chain: PinnedChain,
	ask: (client: PublicClient) => Promise<T>,
): Promise<T> {
	const node = await openEvmNode(config, chain);
	return node(ask);
}

/** Opens the configured node for many calls. Its chain id is requested once. */
export async function openEvmNode(config: Pick<LoadedConfig, "rpc">, chain: PinnedChain): Promise<EvmNode> {
	const client = await explainFailures(config, chain, async (url) => {
		const { createPublicClient, http } = await import("viem");
		const client = createPublicClient({ transport: http(url, { timeout: timeoutMs, retryCount: 1 }) });
		const found = await client.getChainId();
		if (found !== chain.chainId) throw new OtherChain(`is a node of chain ${found}`);
		return client;
	});
	return (ask) => explainFailures(config, chain, () => ask(client));
}

/** Thrown if a node's response shows that it is on another chain than it should be. */
export class OtherChain extends Error {}

/** Runs calls to the configured endpoint. The error of a failure states what to do about it. */
export async function explainFailures<T>(
	config: Pick<LoadedConfig, "rpc">,
	chain: PinnedChain,
	ask: (url: string) => Promise<T>,
): Promise<T> {
	const url = endpointOf(config, chain);
	try {
		return await ask(url);
	} catch (error) {
		if (error instanceof CliError) throw error;
		if (error instanceof OtherChain) throw unavailable(chain, url, error.message, { next: "fix_request" });
		// The library's message has the whole address in it, and with it the key that many endpoints carry.
		throw unavailable(chain, url, "does not answer like a node", { next: "retry" });
	}
}

function unavailable(
	{ name, chainId }: PinnedChain,
	url: string,
	what: string,
	{ next }: { next: "retry" | "fix_request" },
): CliError {
	const isRetryable = next === "retry";
	return new CliError(
		`The endpoint of ${name} at ${new URL(url).host} ${what}. ${isRetryable ? "Try again, or set" : "Set"} another one: geoswap init --rpc ${chainId}=<url>`,
		{
			code: "RPC_UNAVAILABLE",
			exit: isRetryable ? exitCode.refused : exitCode.usage,
			next,
			retryable: isRetryable,
			section: "balances",
			details: { chainId },
		},
	);
}
