import type { Milliseconds, SolanaDeployment } from "@geoswap/protocol";
import {
	createDefaultRpcTransport,
	createSolanaRpcFromTransport,
	isSolanaError,
	type Rpc,
	type RpcTransport,
	SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR,
	type SolanaRpcApi,
} from "@solana/kit";
import { solanaCallTraits } from "../node-pool/call-traits.ts";
import type { OnNodeCall, OnNodeChange } from "../node-pool/create-node-client.ts";
import { createNodePool, type NodePool } from "../node-pool/create-node-pool.ts";
import { type AskNode, type NodeCall, retryAfterMs } from "../node-pool/node-call.ts";
import type { NodeRole } from "../node-pool/node-state.ts";
import type { OnChainCall } from "../request-chain.ts";

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

type Payload = { jsonrpc: string; id: unknown; method: string; params?: unknown };

/** Creates the pool of Solana's nodes, and a transport through it. */
export function solanaNodePool({
	genesisHash,
	nodes,
	timeoutMs,
	onChange,
	onCall,
}: {
	genesisHash: string;
	nodes: readonly { url: string; roles: readonly NodeRole[] }[];
	timeoutMs: Milliseconds;
	onChange?: OnNodeChange | undefined;
	onCall?: OnNodeCall | undefined;
}): { pool: NodePool; transport: RpcTransport } {
	const pool = createNodePool({
		nodes: nodes.map(({ url, roles }) => ({
			host: new URL(url).host,
			roles,
			ask: solanaNode({ transport: createDefaultRpcTransport({ url }), timeoutMs }),
		})),
		kind: {
			traitsOf: solanaCallTraits,
			identity: { call: { method: "getGenesisHash", params: [] }, isOurs: (hash) => hash === genesisHash },
			headCall: { method: "getSlot", params: [{ commitment: "confirmed" }] },
			isKnown: (message) => /already been processed/i.test(message),
		},
		timeoutMs,
		...(onChange && { onChange }),
		...(onCall && { onCall }),
	});
	const transport: RpcTransport = async <TResponse>({ payload }: Parameters<RpcTransport>[0]) => {
		const { method, params } = payload as Payload;
		return (await pool.request({ method, params: Array.isArray(params) ? params : [] })) as TResponse;
	};
	return { pool, transport };
}

let lastId = 0;

/**
 * Returns the function that sends calls to one node. Results and errors are returned as responses, which kit parses.
 */
function solanaNode({ transport, timeoutMs }: { transport: RpcTransport; timeoutMs: Milliseconds }): AskNode {
	return async ({ method, params }: NodeCall) => {
		const payload: Payload = { jsonrpc: "2.0", id: String(++lastId), method, params };
		type Response = { result?: unknown; error?: { code: number | bigint; message: string } };
		try {
			const response = await transport<Response>({ payload, signal: AbortSignal.timeout(timeoutMs) });
			if (!response.error) return { kind: "result", result: response.result, value: response };
			const { code, message } = response.error;
			return { kind: "refused", code: Number(code), message, give: () => response };
		} catch (error) {
			if (!isSolanaError(error, SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR)) {
				return { kind: "failed", isLimited: false, error };
			}
			const { statusCode, headers } = error.context;
			const waitMs = retryAfterMs(headers.get("retry-after"));
			const isLimited = statusCode === 429;
			return { kind: "failed", isLimited, ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }), error };
		}
	};
}
