import type { ChainDeployment, Seconds, SolanaAssetDeployment, SolanaDeployment } from "@geoswap/protocol";
import type { EvmTerms, NodeTerms, SolanaTerms } from "./chain-terms.ts";

/** The fields that chains of both kinds have. */
type OfEveryChain = {
	chainId: number;
	nativeDecimals: number;
	/**
	 * The maximum number of seconds after signing within which a transaction can land. 0 if transactions do not expire.
	 */
	deadAfterSeconds: Seconds;
};

export type EvmChainConfig = EvmTerms & OfEveryChain & { kind: "evm"; deployment: ChainDeployment };
export type SolanaChainConfig = SolanaTerms & OfEveryChain & { kind: "solana"; deployment: SolanaDeployment };
/** A chain that the service is configured for. */
export type ChainConfig = EvmChainConfig | SolanaChainConfig;

type Chains = { chains: readonly ChainConfig[] };

/** Returns the terms of an EVM chain together with its deployment. */
export function evmChainConfig(terms: EvmTerms, deployment: ChainDeployment): EvmChainConfig {
	const { chainId } = deployment;
	return { ...terms, kind: "evm", chainId, deployment, nativeDecimals: 18, deadAfterSeconds: 0 };
}

/** Returns the terms of Solana together with its deployment. */
export function solanaChainConfig(terms: SolanaTerms, deployment: SolanaDeployment): SolanaChainConfig {
	const { chainId } = deployment;
	const deadAfterSeconds = terms.blockhashSeconds.most;
	return { ...terms, kind: "solana", chainId, deployment, nativeDecimals: 9, deadAfterSeconds };
}

/** Returns the chain with this id, or undefined if it is not configured. The id may be any integer. */
export function chainOf({ chains }: Chains, chainId: bigint): ChainConfig | undefined {
	return chains.find((chain) => BigInt(chain.chainId) === chainId);
}

/**
 * Returns true if this account may begin swaps on the chain. Without an account, only chains for all accounts count.
 */
export function isOfferedTo(
	accountId: string | undefined,
	{ onlyAccounts }: Pick<ChainConfig, "onlyAccounts">,
): boolean {
	return onlyAccounts === undefined || (accountId !== undefined && onlyAccounts.includes(accountId));
}

export function evmChains({ chains }: Chains): EvmChainConfig[] {
	return chains.filter((chain) => chain.kind === "evm");
}

/** Returns Solana; undefined if it is not configured. */
export function solanaChain({ chains }: Chains): SolanaChainConfig | undefined {
	return chains.find((chain) => chain.kind === "solana");
}

/** Returns the nodes of a chain that have a role, the preferred one first. */
export function nodesFor(
	role: NodeTerms["roles"][number],
	{ nodes }: Pick<ChainConfig, "nodes">,
): NodeTerms[] {
	return nodes.filter(({ roles }) => roles.includes(role));
}

/** Returns the URL of the preferred node. */
export function firstUrl(chain: Pick<ChainConfig, "nodes">): string {
	const [first] = nodesFor("read", chain);
	if (!first) throw new RangeError("a chain has a node that reads");
	return first.url;
}

/** Returns one node of each host with the role `agree`. Two keys of one host count as one provider. */
export function hostsThatAgree(chain: Pick<ChainConfig, "nodes">): { host: string; url: string }[] {
	const byHost = new Map<string, string>();
	for (const { url } of nodesFor("agree", chain)) {
		const { host } = new URL(url);
		if (!byHost.has(host)) byHost.set(host, url);
	}
	return [...byHost].map(([host, url]) => ({ host, url }));
}

/** Returns the assets of other chains whose price feeds are on this chain. */
export function assetsPricedOn(chainId: number, config: Chains): readonly SolanaAssetDeployment[] {
	const assets = solanaChain(config)?.deployment.assets ?? [];
	return assets.filter(({ feed }) => feed.chainId === chainId);
}

/** Returns the attesters that decide new orders from a chain. */
export function attesterSetOfChain(chain: ChainConfig): EvmChainConfig["deployment"]["attesterSet"] {
	return chain.kind === "evm" ? chain.deployment.attesterSet : chain.deployment.program.attesterSet;
}
