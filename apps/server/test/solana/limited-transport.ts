import {
	createDefaultRpcTransport,
	type RpcTransport,
	SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR,
	SolanaError,
} from "@solana/kit";

export type NodeLimits = {
	/** The maximum number of signatures of a page. */
	maxListed?: number;
	/** If true, a request for a longer page is refused. Otherwise the node returns a shorter page. */
	refusesLongPages?: boolean;
	/** The largest answer. The node answers 413 instead of a larger one. */
	maxBytes?: number;
	/** Transactions that the node does not return for their size. */
	tooLarge?: readonly string[];
	/** Number of calls after which the node answers 429 once. */
	callsAtOnce?: number;
};

type Payload = { id: unknown; method: string; params: unknown[] };

/** Connects to a node through limits like those of providers. `calls` counts the calls by method. */
export function limitedTransport(
	{ rpcUrl }: { rpcUrl: string },
	{ maxListed, refusesLongPages = false, maxBytes, tooLarge = [], callsAtOnce }: NodeLimits,
): { transport: RpcTransport; calls: Map<string, number> } {
	const real = createDefaultRpcTransport({ url: rpcUrl });
	const calls = new Map<string, number>();
	let left = callsAtOnce ?? Number.POSITIVE_INFINITY;
	const transport: RpcTransport = async (request) => {
		const payload = request.payload as Payload;
		const { id, method, params } = payload;
		calls.set(method, (calls.get(method) ?? 0) + 1);
		if (left-- === 0) {
			left = callsAtOnce ?? 0;
			throw httpError(429);
		}
		if (method === "getTransaction" && tooLarge.includes(String(params[0]))) throw httpError(413);
		let sent = payload;
		if (method === "getSignaturesForAddress" && maxListed !== undefined) {
			const [address, config] = params as [string, { limit: number }];
			if (refusesLongPages && config.limit > maxListed) {
				return { jsonrpc: "2.0", id, error: { code: -32_602, message: "limit is too large" } } as never;
			}
			sent = { ...payload, params: [address, { ...config, limit: Math.min(config.limit, maxListed) }] };
		}
		const answer = await real({ ...request, payload: sent });
		if (maxBytes !== undefined && bytesOf(answer) > maxBytes) throw httpError(413);
		return answer as never;
	};
	return { transport, calls };
}

function bytesOf(answer: unknown): number {
	return JSON.stringify(answer, (_, value) => (typeof value === "bigint" ? Number(value) : value)).length;
}

function httpError(statusCode: number): SolanaError {
	const context = { headers: new Headers(), message: "refused", statusCode };
	return new SolanaError(SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR, context);
}

/** Nodes that limit their answers, by name. */
export const limitedNodes: readonly (readonly [string, NodeLimits])[] = [
	["returns one signature a page", { maxListed: 1 }],
	["returns 100 signatures a page", { maxListed: 100 }],
	["returns 1,000 signatures a page", { maxListed: 1_000 }],
	["refuses pages of more than 100 signatures", { maxListed: 100, refusesLongPages: true }],
	["refuses pages of more than one signature", { maxListed: 1, refusesLongPages: true }],
	["refuses answers above 64 kB", { maxBytes: 65_536 }],
];
