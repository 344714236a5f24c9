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
	zeroAddress,
} from "viem";
import type { HeadNews } from "../node-pool/watch-heads.ts";
import type { OnChainCall } from "../request-chain.ts";

/** The address of Multicall3 on every chain that has it. */
export const multicall3Address: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";

/**
 * The largest answer of a node that is read. All events that anyone can put into a block of 100 million gas fit into it
 * (`max-answer-bytes.test.ts` has the arithmetic), and more is requested in parts. It also bounds memory, because a
 * larger limit would let a stranger who fills several blocks exhaust the worker's.
 */
export const maxAnswerBytes = 16 * 1024 * 1024;

/** A client for a chain's node, and the service's deployment on that chain. */
export type EvmChain = {
	chainId: number;
	deployment: ChainDeployment;
	client: PublicClient<Transport, Chain>;
	/** News of blocks. Absent if no node is subscribed to. */
	news?: HeadNews;
};

export function connectChain({
	chainId,
	rpcUrl,
	timeoutMs = 10_000,
	batchSize,
	// The caller decides whether to retry, because more retries here would hide a slow chain.
	transport = http(rpcUrl, {
		retryCount: 1,
		timeout: timeoutMs,
		batch: batchSize !== undefined && { batchSize },
		maxResponseBodySize: maxAnswerBytes,
	}),
	deployment,
	news,
	onCall,
}: {
	chainId: number;
	rpcUrl: string;
	timeoutMs?: Milliseconds;
	/**
	 * The maximum number of concurrent calls in one request to the node; undefined if each call is a separate request.
	 */
	batchSize?: number;
	/** The transport to the node, if not HTTP to `rpcUrl`. */
	transport?: Transport;
	deployment: ChainDeployment;
	/** News of blocks, if a node is subscribed to. */
	news?: HeadNews | undefined;
	/** Called after every call to the node. */
	onCall?: OnChainCall | undefined;
}): EvmChain {
	const chain = defineChain({
		id: chainId,
		name: deployment.name,
		nativeCurrency: { name: "Native", symbol: nativeSymbol(deployment), decimals: 18 },
		rpcUrls: { default: { http: [rpcUrl] } },
		contracts: { multicall3: { address: multicall3Address } },
	});
	return {
		chainId,
		deployment,
		...(news && { news }),
		client: createPublicClient({
			chain,
			transport: told(transport, { chainId, onCall }),
			cacheTime: 0,
		}),
	};
}

/** Returns the symbol of the token that pays for gas. It is only displayed, so a chain need not list the token. */
function nativeSymbol({ assets }: ChainDeployment): string {
	return assets.find(({ address }) => address === zeroAddress)?.symbol ?? "native";
}

/** Wraps the transport and reports each call to `onCall`. A call and its retry are reported once. */
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
