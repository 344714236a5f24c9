import type { ChainDeployment } from "@geoswap/protocol";
import {
	type Address,
	type Chain,
	createPublicClient,
	defineChain,
	erc20Abi,
	fallback,
	getChainContractAddress,
	http,
	isAddressEqual,
	multicall3Abi,
	type PublicClient,
	type Transport,
	zeroAddress,
} from "viem";

/** The risk that the service is configured to take on inputs from a chain. An undefined limit is not checked. */
export type AuditedPolicy = {
	/** Blocks after its own at which a deposit counts, by value. Above the highest value it must be final. */
	depths?: readonly { upToUsd: number; blocks: number }[] | undefined;
	unreleasedCapUsd?: number | undefined;
	unfinalCapUsd?: number | undefined;
};

export type AuditedChain = {
	chainId: number;
	deployment: ChainDeployment;
	policy: AuditedPolicy;
	client: PublicClient<Transport, Chain>;
	escrows: Address[];
	vaults: Address[];
	accessManager: Address;
};

/** Maximum size of a response in bytes, so that reading logs needs little memory. A range with more is halved. */
const maxResponseBodySize = 2 * 1024 * 1024;

function connectNode(url: string): Transport {
	return http(url, { maxResponseBodySize });
}

export function connectAuditedChain({
	chainId,
	rpcUrl,
	otherUrls = [],
	transport = otherUrls.length > 0 ? fallback([rpcUrl, ...otherUrls].map(connectNode)) : connectNode(rpcUrl),
	deployment,
	depths,
	unreleasedCapUsd,
	unfinalCapUsd,
}: AuditedPolicy & {
	chainId: number;
	rpcUrl: string;
	/** Other nodes, which are called if the first does not respond. */
	otherUrls?: readonly string[];
	/** Transport to the node, if it is not reached by its URL. */
	transport?: Transport;
	deployment: ChainDeployment;
}): AuditedChain {
	const { contracts } = deployment;
	const chain = defineChain({
		id: chainId,
		name: deployment.name,
		nativeCurrency: { name: "Native", symbol: "ETH", decimals: 18 },
		rpcUrls: { default: { http: [rpcUrl] } },
		contracts: { multicall3: { address: "0xcA11bde05977b3631167028862bE2a173976CA11" } },
	});
	return {
		chainId,
		deployment,
		policy: { depths, unreleasedCapUsd, unfinalCapUsd },
		client: createPublicClient({ chain, transport, cacheTime: 0 }),
		escrows: [contracts.escrow, ...contracts.earlierEscrows],
		vaults: [contracts.vault, ...contracts.earlierVaults],
		accessManager: contracts.accessManager,
	};
}

/** Returns whether the service offers the token on this chain. */
export function isListed({ deployment }: AuditedChain, token: Address): boolean {
	return deployment.assets.some((asset) => isAddressEqual(asset.address, token));
}

/** Returns the balance of each holder in each token at a block, as one list per token. */
export async function balancesAt(
	{ client }: AuditedChain,
	{ tokens, holders, block }: { tokens: readonly Address[]; holders: readonly Address[]; block: number },
): Promise<bigint[][]> {
	const address = getChainContractAddress({ chain: client.chain, contract: "multicall3" });
	const read = await client.multicall({
		allowFailure: false,
		blockNumber: BigInt(block),
		contracts: tokens.flatMap((token) =>
			holders.map((holder) =>
				token === zeroAddress
					? { address, abi: multicall3Abi, functionName: "getEthBalance" as const, args: [holder] as const }
					: { address: token, abi: erc20Abi, functionName: "balanceOf" as const, args: [holder] as const },
			),
		),
	});
	return tokens.map((_, i) => read.slice(i * holders.length, (i + 1) * holders.length));
}

/** Returns each wallet's allowance for its spender at a block. */
export function allowancesAt(
	{ client }: AuditedChain,
	{
		grants,
		block,
	}: { grants: readonly { token: Address; wallet: Address; spender: Address }[]; block: number },
): Promise<bigint[]> {
	return client.multicall({
		allowFailure: false,
		blockNumber: BigInt(block),
		contracts: grants.map(({ token, wallet, spender }) => ({
			address: token,
			abi: erc20Abi,
			functionName: "allowance" as const,
			args: [wallet, spender] as const,
		})),
	});
}
