import type { SolanaDeployment } from "@geoswap/protocol";
import {
	createDefaultRpcTransport,
	createSolanaRpcFromTransport,
	type Rpc,
	type RpcTransport,
	type SolanaRpcApi,
} from "@solana/kit";

/** Solana: where it answers, and what of ours is on it. */
export type SolanaChain = { chainId: number; deployment: SolanaDeployment; rpc: Rpc<SolanaRpcApi> };

/** How certain a reading is: `processed` is nothing to act on. */
export type SolanaCommitment = "confirmed" | "finalized";

export function connectSolana({
	rpcUrl,
	deployment,
	timeoutMs = 10_000,
}: {
	rpcUrl: string;
	deployment: SolanaDeployment;
	timeoutMs?: number;
}): SolanaChain {
	const transport = withTimeoutAndRetry(createDefaultRpcTransport({ url: rpcUrl }), timeoutMs);
	return {
		chainId: deployment.chainId,
		deployment,
		rpc: createSolanaRpcFromTransport(transport) as Rpc<SolanaRpcApi>,
	};
}

/** As on an EVM chain: whoever asks decides whether to ask again, beyond one broken connection. */
function withTimeoutAndRetry(transport: RpcTransport, timeoutMs: number): RpcTransport {
	return async <TResponse>(request: Parameters<RpcTransport>[0]) => {
		const attempt = () => {
			const timeout = AbortSignal.timeout(timeoutMs);
			const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout;
			return transport<TResponse>({ ...request, signal });
		};
		try {
			return await attempt();
		} catch (error) {
			if (request.signal?.aborted) throw error;
			return attempt();
		}
	};
}
