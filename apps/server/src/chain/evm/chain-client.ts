import type { ChainDeployment } from "@geoswap/protocol";
import {
	type Address,
	type Chain,
	createPublicClient,
	defineChain,
	type HttpTransport,
	http,
	type PublicClient,
} from "viem";

/** Where Multicall3 is on every chain that has it. */
const multicall3Address: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** One chain: where it answers, and what of ours is on it. */
export type EvmChain = {
	chainId: number;
	deployment: ChainDeployment;
	client: PublicClient<HttpTransport, Chain>;
};

export function connectChain({
	chainId,
	rpcUrl,
	deployment,
}: {
	chainId: number;
	rpcUrl: string;
	deployment: ChainDeployment;
}): EvmChain {
	const chain = defineChain({
		id: chainId,
		name: deployment.name,
		nativeCurrency: { name: "Native", symbol: "ETH", decimals: 18 },
		rpcUrls: { default: { http: [rpcUrl] } },
		contracts: { multicall3: { address: multicall3Address } },
	});
	return {
		chainId,
		deployment,
		client: createPublicClient({
			chain,
			// Whoever asks decides whether to ask again: a retry in here would hide a chain that is slow.
			transport: http(rpcUrl, { retryCount: 1, timeout: 10_000 }),
			cacheTime: 0,
		}),
	};
}
