import type { Milliseconds } from "@geoswap/protocol";
import {
	createDefaultRpcTransport,
	isSolanaError,
	type RpcTransport,
	SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR,
} from "@solana/kit";
import {
	createNodePool,
	type NodePool,
	type OnNodeCall,
	type OnNodeChange,
} from "../node-pool/create-node-pool.ts";
import type { AskNode, NodeCall } from "../node-pool/node-call.ts";
import type { NodeRole } from "../node-pool/node-state.ts";
import { retryAfterMs } from "../node-pool/retry-after.ts";
import { solanaCallTraits } from "../node-pool/solana-call-traits.ts";

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
