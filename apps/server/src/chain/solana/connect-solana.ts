import type { Milliseconds, SolanaDeployment } from "@geoswap/protocol";
import {
	createDefaultRpcTransport,
	createSolanaRpcFromTransport,
	type Rpc,
	type RpcTransport,
	type SolanaRpcApi,
} from "@solana/kit";
import type { OnChainCall } from "../on-chain-call.ts";

/** A client for Solana's node, and the service's deployment on Solana. */
export type SolanaChain = { chainId: number; deployment: SolanaDeployment; rpc: Rpc<SolanaRpcApi> };

/** The certainty of a reading. `processed` is too uncertain to act on. */
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
	timeoutMs?: Milliseconds;
	/** The transport to the node, if not HTTP to `rpcUrl`. */
	transport?: RpcTransport;
	/** Called after every call to the node. */
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

/** Adds a timeout and one retry for a broken connection. Beyond that the caller retries, as on an EVM chain. */
function withTimeoutAndRetry(transport: RpcTransport, timeoutMs: Milliseconds): RpcTransport {
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

/** Wraps the transport and reports each call to `onCall`. A call and its retry are reported once. */
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
