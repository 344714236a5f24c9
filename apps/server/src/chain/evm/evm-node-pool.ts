import type { Milliseconds } from "@geoswap/protocol";
import {
	BaseError,
	createTransport,
	type EIP1193RequestFn,
	HttpRequestError,
	http,
	ResponseBodyTooLargeError,
	RpcRequestError,
	TimeoutError,
	type Transport,
} from "viem";
import { evmCallTraits } from "../node-pool/call-traits.ts";
import type { OnNodeCall, OnNodeChange } from "../node-pool/create-node-client.ts";
import { createNodePool, type NodePool } from "../node-pool/create-node-pool.ts";
import { type AskNode, type NodeAnswer, type NodeCall, retryAfterMs } from "../node-pool/node-call.ts";
import type { NodeRole } from "../node-pool/node-state.ts";
import { maxAnswerBytes } from "./connect-chain.ts";
import { isKnownOrSpent } from "./send/send-raw.ts";

/** Creates the pool of an EVM chain's nodes, and a transport through it. */
export function evmNodePool({
	chainId,
	nodes,
	timeoutMs,
	batchSize,
	onChange,
	onCall,
}: {
	chainId: number;
	nodes: readonly { url: string; roles: readonly NodeRole[] }[];
	timeoutMs: Milliseconds;
	/** The maximum number of concurrent calls in one request to a node; undefined if each call is a separate request. */
	batchSize?: number | undefined;
	onChange?: OnNodeChange | undefined;
	onCall?: OnNodeCall | undefined;
}): { pool: NodePool; transport: Transport } {
	const pool = createNodePool({
		nodes: nodes.map(({ url, roles }) => ({
			host: new URL(url).host,
			roles,
			ask: evmNode({ url, timeoutMs, batchSize }),
		})),
		kind: {
			traitsOf: evmCallTraits,
			identity: { call: { method: "eth_chainId", params: [] }, isOurs: (id) => Number(id) === chainId },
			headCall: { method: "eth_blockNumber", params: [] },
			blockCall: (hash) => ({ method: "eth_getBlockByHash", params: [hash, false] }),
			isKnown: isKnownOrSpent,
		},
		timeoutMs,
		...(onChange && { onChange }),
		...(onCall && { onCall }),
	});
	const hosts = nodes.map(({ url }) => new URL(url).origin).join(", ");
	const request = (({ method, params }: { method: string; params?: unknown }) =>
		pool.request({ method, params: Array.isArray(params) ? params : [] })) as EIP1193RequestFn;
	const transport: Transport = () =>
		createTransport({ key: "pool", name: "Node pool", type: "pool", request, retryCount: 0 }, { url: hosts });
	return { pool, transport };
}

/** Returns the function that sends calls to one node. If the node takes no batches, calls go to it one by one. */
function evmNode({
	url,
	timeoutMs,
	batchSize,
}: {
	url: string;
	timeoutMs: Milliseconds;
	batchSize: number | undefined;
}): AskNode {
	const connect = (batch: false | { batchSize: number }) =>
		http(url, { retryCount: 0, timeout: timeoutMs, batch, maxResponseBodySize: maxAnswerBytes })({})
			.request as (call: { method: string; params: unknown }) => Promise<unknown>;
	const alone = connect(false);
	let together = batchSize === undefined ? undefined : connect({ batchSize });
	return async (call) => {
		const { answer, error } = await attempt(together ?? alone, call);
		if (!together || error === undefined || !isAboutBatch(error, answer)) return answer;
		const again = await attempt(alone, call);
		// If the call fails alone too, or its answer was too large, batches need not be the cause.
		if (again.answer.kind !== "failed" && !isTooLarge(error)) together = undefined;
		return again.answer;
	};
}

async function attempt(
	request: (call: { method: string; params: unknown }) => Promise<unknown>,
	{ method, params }: NodeCall,
): Promise<{ answer: NodeAnswer; error?: unknown }> {
	try {
		const result = await request({ method, params });
		return { answer: { kind: "result", result, value: result } };
	} catch (error) {
		return { answer: describe(error), error };
	}
}

/** Statuses by which servers refuse a body that they do not take. */
const bodyRefused = new Set([400, 405, 413, 415, 422, 501]);

/** Returns whether a node may have refused the batch and not the call. */
function isAboutBatch(error: unknown, answer: NodeAnswer): boolean {
	// One of the calls may be what is too large.
	if (isTooLarge(error)) return true;
	if (answer.kind === "refused") return /batch/i.test(answer.message);
	if (!(error instanceof BaseError)) return true;
	const broken = error.walk((cause) => cause instanceof HttpRequestError);
	if (broken instanceof HttpRequestError) {
		return bodyRefused.has(broken.status ?? 0) || broken.cause instanceof SyntaxError;
	}
	// viem fails to read an answer that is not a list. That error is neither a timeout nor a broken connection.
	return error.walk((cause) => cause instanceof TimeoutError) === null;
}

/** Returns whether the answer is larger than what this process, or the node, allows. */
export function isTooLarge(error: unknown): boolean {
	if (!(error instanceof BaseError)) return false;
	return (
		error.walk((cause) => cause instanceof ResponseBodyTooLargeError) !== null ||
		error.walk((cause) => cause instanceof HttpRequestError && cause.status === 413) !== null
	);
}

function describe(error: unknown): NodeAnswer {
	if (isTooLarge(error)) {
		// The size depends on the call, so it does not count against the node.
		const give = () => {
			throw error;
		};
		return { kind: "refused", code: 413, message: "the response size exceeds a limit", give };
	}
	const walked = error instanceof BaseError ? error : undefined;
	const refusal = walked?.walk((cause) => cause instanceof RpcRequestError);
	if (refusal instanceof RpcRequestError) {
		const { code, details, shortMessage } = refusal;
		return {
			kind: "refused",
			code,
			message: details || shortMessage,
			give: () => {
				throw refusal;
			},
		};
	}
	const broken = walked?.walk((cause) => cause instanceof HttpRequestError);
	if (!(broken instanceof HttpRequestError)) return { kind: "failed", isLimited: false, error };
	const waitMs = retryAfterMs(broken.headers?.get("retry-after"));
	const isLimited = broken.status === 429;
	return { kind: "failed", isLimited, ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }), error };
}
