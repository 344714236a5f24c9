import type { ChainDeployment, Milliseconds } from "@geoswap/protocol";
import {
	type Address,
	BaseError,
	type Chain,
	createPublicClient,
	defineChain,
	http,
	type PublicClient,
	RpcRequestError,
	type Transport,
} from "viem";
import type { OnChainCall } from "../on-chain-call.ts";

/** The address of Multicall3 on every chain that has it. */
const multicall3Address: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** One chain: a client for its node, and our deployment on it. */
export type EvmChain = {
	chainId: number;
	deployment: ChainDeployment;
	client: PublicClient<Transport, Chain>;
};

export function connectChain({
	chainId,
	rpcUrl,
	timeoutMs = 10_000,
	batchSize,
	// The caller decides whether to ask again: more retries in here would hide a slow chain.
	transport = http(rpcUrl, {
		retryCount: 1,
		timeout: timeoutMs,
		batch: batchSize !== undefined && { batchSize },
	}),
	deployment,
	onCall,
}: {
	chainId: number;
	rpcUrl: string;
	timeoutMs?: Milliseconds;
	/** The most calls of the same moment that go to the node in one request; undefined if each goes alone. */
	batchSize?: number;
	/** The transport to the node, if not HTTP to `rpcUrl`. */
	transport?: Transport;
	deployment: ChainDeployment;
	/** Called after every call to the node. */
	onCall?: OnChainCall | undefined;
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
			transport: told(transport, { chainId, onCall }),
			cacheTime: 0,
		}),
	};
}

/** Wraps the transport and reports each call to `onCall`, once with its retry. */
function told(
	transport: Transport,
	{ chainId, onCall }: { chainId: number; onCall: OnChainCall | undefined },
): Transport {
	if (!onCall) return transport;
	return (options) => {
		const made = transport(options);
		const request = (async (call) => {
			const startedAt = performance.now();
			const tell = (outcome: Parameters<OnChainCall>[0]["outcome"]) =>
				onCall({ chainId, method: call.method, seconds: (performance.now() - startedAt) / 1_000, outcome });
			try {
				const answer = await made.request(call);
				tell("ok");
				return answer;
			} catch (error) {
				const isAnswer =
					error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError);
				tell(isAnswer ? "refused" : "failed");
				throw error;
			}
		}) as typeof made.request;
		return { ...made, request };
	};
}
