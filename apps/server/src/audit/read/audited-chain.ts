import type { ChainDeployment } from "@geoswap/protocol";
import {
	type Address,
	type Chain,
	createPublicClient,
	defineChain,
	erc20Abi,
	getChainContractAddress,
	http,
	isAddressEqual,
	multicall3Abi,
	type PublicClient,
	type Transport,
	zeroAddress,
} from "viem";

/** What the service is configured to risk on inputs from a chain. What is not given is not checked. */
export type AuditedPolicy = {
	/** By value: how many blocks after its own a deposit counts. Above all of them, when final. */
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
};

export function connectAuditedChain({
	chainId,
	rpcUrl,
	transport = http(rpcUrl),
	deployment,
	depths,
	unreleasedCapUsd,
	unfinalCapUsd,
}: AuditedPolicy & {
	chainId: number;
	rpcUrl: string;
	/** How the node is reached, where not by its address. */
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
	};
}

/** Whether the service offers the token there. */
export function isListed({ deployment }: AuditedChain, token: Address): boolean {
	return deployment.assets.some((asset) => isAddressEqual(asset.address, token));
}

/** What each holder has of each token at a block: a list per token. */
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

/** What each wallet lets a spender take at a block. */
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
