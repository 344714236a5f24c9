import type { RpcTransport } from "@solana/kit";
import { RpcFailure, type SimChain } from "../sim-chain.ts";

/**
 * Returns a kit transport's response to a payload, which is the answer in its envelope, with errors of the node as
 * answers. Numbers may be of either type, since kit converts each as its method requires.
 */
function kitAnswer({ request }: Pick<SimChain, "request">, payload: unknown): unknown {
	const { id, method, params = [] } = payload as { id: unknown; method: string; params?: readonly unknown[] };
	try {
		return { jsonrpc: "2.0", id, result: request(method, params) };
	} catch (error) {
		if (!(error instanceof RpcFailure)) throw error;
		const { code, message, data } = error;
		return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
	}
}

/** Returns a transport to a node that answers immediately. */
export function kitTransport(chain: Pick<SimChain, "request">): RpcTransport {
	return async <TResponse>({ payload }: Parameters<RpcTransport>[0]) =>
		kitAnswer(chain, payload) as TResponse;
}
