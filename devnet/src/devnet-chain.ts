import type { ChainDeployment } from "@geoswap/protocol";
import {
	type Address,
	type Chain,
	createPublicClient,
	createTestClient,
	defineChain,
	type HttpTransport,
	http,
	type PublicClient,
	type TestClient,
} from "viem";

/** The address of Multicall3 on every chain that has it. */
export const multicall3Address: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";

export type DevnetChain = {
	chainId: number;
	rpcUrl: string;
	chain: Chain;
	publicClient: PublicClient<HttpTransport, Chain>;
	testClient: TestClient<"anvil", HttpTransport, Chain>;
};

/** A chain that is set up. */
export type TestChain = DevnetChain & { deployment: ChainDeployment };

/** The chains of the devnet, in the order of their ports. */
export const devnetChains = [
	{ chainId: 31337, name: "Devnet One" },
	{ chainId: 31338, name: "Devnet Two" },
] as const;

export function connectDevnetChain({ chainId, rpcUrl }: { chainId: number; rpcUrl: string }): DevnetChain {
	const chain = defineChain({
		id: chainId,
		name: devnetChains.find((known) => known.chainId === chainId)?.name ?? `Devnet ${chainId}`,
		nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
		rpcUrls: { default: { http: [rpcUrl] } },
		contracts: { multicall3: { address: multicall3Address } },
		testnet: true,
	});
	// The chain is on this machine, so frequent polling is cheap, and cached responses would be confusing.
	const options = { chain, transport: http(rpcUrl), pollingInterval: 50, cacheTime: 0 };
	return {
		chainId,
		rpcUrl,
		chain,
		publicClient: createPublicClient(options),
		testClient: createTestClient({ ...options, mode: "anvil" }),
	};
}
