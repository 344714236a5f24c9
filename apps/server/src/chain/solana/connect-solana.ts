import type { SolanaDeployment } from "@geoswap/protocol";
import {
	createDefaultRpcTransport,
	createSolanaRpcFromTransport,
	type Rpc,
	type RpcTransport,
	type SolanaRpcApi,
} from "@solana/kit";
import type { OnChainCall } from "../on-chain-call.ts";

/** Solana: where it answers, and what of ours is on it. */
export type SolanaChain = { chainId: number; deployment: SolanaDeployment; rpc: Rpc<SolanaRpcApi> };

/** How certain a reading is: `processed` is nothing to act on. */
export type SolanaCommitment = "confirmed" | "finalized";

export function connectSolana({
	rpcUrl,
	deployment,
	timeoutMs = 10_000,
	transport: reached = withTimeoutAndRetry(createDefaultRpcTransport({ url: rpcUrl }), timeoutMs),
	onCall,
}: {
	rpcUrl: string;
	deployment: SolanaDeployment;
	timeoutMs?: number;
	/** How the node is reached, where not by its address. */
	transport?: RpcTransport;
	/** Told of every call to the node. */
	onCall?: OnChainCall | undefined;
}): SolanaChain {
	const { chainId } = deployment;
	const transport = told(reached, { chainId, onCall });
	return {
		chainId,
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

/** The same, and each call is told of, once with its retry. */
function told(
	transport: RpcTransport,
	{ chainId, onCall }: { chainId: number; onCall: OnChainCall | undefined },
): RpcTransport {
	if (!onCall) return transport;
	return async <TResponse>(request: Parameters<RpcTransport>[0]) => {
		const { method = "unknown" } = request.payload as { method?: string };
		const startedAt = performance.now();
		const tell = (outcome: Parameters<OnChainCall>[0]["outcome"]) =>
			onCall({ chainId, method, seconds: (performance.now() - startedAt) / 1_000, outcome });
		try {
			const answer = await transport<TResponse>(request);
			tell(isError(answer) ? "refused" : "ok");
			return answer;
		} catch (error) {
			tell("failed");
			throw error;
		}
	};
}

function isError(answer: unknown): boolean {
	return typeof answer === "object" && answer !== null && "error" in answer;
}
