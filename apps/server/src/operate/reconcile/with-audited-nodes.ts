import { type ChainConfig, firstUrl, nodesFor } from "../../config/chain-config.ts";

/** Returns a chain with the nodes that the audit reads, the preferred one first. */
export function withAuditedNodes<Chain extends ChainConfig>(
	chain: Chain,
): Chain & { rpcUrl: string; otherUrls: string[] } {
	const [, ...others] = nodesFor("read", chain);
	return { ...chain, rpcUrl: firstUrl(chain), otherUrls: others.map(({ url }) => url) };
}
