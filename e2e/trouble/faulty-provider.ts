import { setTimeout as sleep } from "node:timers/promises";
import { type Liar, type LyingNode, type LyingNodeCall, startLyingNode } from "@geoswap/devnet";
import type { Hash, Hex } from "viem";

/** The faults of a provider of an EVM chain. */
export const providerFaults = [
	"is down",
	"limits",
	"lags",
	"jumps back",
	"lies about a receipt",
	"drops websockets",
	"lacks methods",
	"is slow",
] as const;
/** A provider whose final block does not advance is not faulty itself if all others of the chain do the same. */
type ProviderFault = (typeof providerFaults)[number] | "stalls finality";

export type FaultyProvider = Pick<LyingNode, "url" | "stop"> & {
	/** The node behind the provider. */
	setTarget: (url: string) => void;
	/** Undefined if the provider is healthy. */
	fault: () => ProviderFault | undefined;
	setFault: (fault: ProviderFault | undefined) => void;
	/** Transactions whose events the provider has returned, and when it did so first. */
	toldAt: ReadonlyMap<Hash, number>;
	/** Number of false answers and refusals, by fault. */
	counts: Record<ProviderFault, number>;
};

const lagBlocks = 5;
const slowMs = 20_000;
/** How long a provider that jumps back stays back, and ahead. */
const jumpMs = 1_500;
/** The pause that a provider requests if it limits requests. */
const retryAfterSeconds = 1;
/** Methods that some providers do not offer. */
const rareMethods = new Set(["eth_simulateV1", "eth_feeHistory", "debug_traceCall"]);

/** Starts a provider in front of a node, without a fault. */
export async function startFaultyProvider(): Promise<FaultyProvider> {
	const node = await startLyingNode();
	const counts = Object.fromEntries(
		[...providerFaults, "stalls finality"].map((fault) => [fault, 0]),
	) as FaultyProvider["counts"];
	const toldAt = new Map<Hash, number>();
	let fault: ProviderFault | undefined;
	let liar: Liar | undefined;
	const noteTold = (logs: readonly Log[]) => {
		for (const { transactionHash } of logs) {
			if (!toldAt.has(transactionHash)) toldAt.set(transactionHash, Date.now());
		}
	};
	node.liar = async (call, result, answerBytes) => {
		const current = fault;
		const lie = await liar?.(call, result, answerBytes);
		if (current && (lie || current === "is slow")) counts[current]++;
		const told = typeof lie === "object" && "result" in lie ? lie.result : lie ? undefined : result;
		if (call.method === "eth_getLogs" && Array.isArray(told)) noteTold(told as Log[]);
		return lie;
	};
	return {
		url: node.url,
		stop: node.stop,
		setTarget: (url) => {
			node.targetUrl = url;
		},
		fault: () => fault,
		setFault: (next) => {
			if (next === fault) return;
			const isDelayed = node.webSocketDelayMs > 0;
			fault = next;
			liar = next && liars[next](node);
			node.isDown = next === "is down";
			node.takesWebSockets = next !== "drops websockets";
			node.webSocketDelayMs = next === "lags" ? lagBlocks * 1_000 : next === "is slow" ? slowMs : 0;
			// Late messages must not come after later ones.
			if (isDelayed || node.isDown || !node.takesWebSockets) node.dropWebSockets();
		},
		toldAt,
		counts,
	};
}

const liars: Record<ProviderFault, (node: LyingNode) => Liar | undefined> = {
	"is down": () => undefined,
	limits: () => () => ({ status: 429, headers: { "retry-after": String(retryAfterSeconds) } }),
	lags: (node) => (call) => askBackThen(node, call),
	"jumps back": (node) => {
		const since = performance.now();
		const isBack = () => Math.floor((performance.now() - since) / jumpMs) % 2 === 0;
		return (call) => (isBack() ? askBackThen(node, call) : undefined);
	},
	"lies about a receipt": lieAboutReceipt,
	"drops websockets": () => undefined,
	"lacks methods":
		() =>
		({ method }) =>
			rareMethods.has(method)
				? { error: { code: -32_601, message: `the method ${method} does not exist/is not available` } }
				: undefined,
	"is slow": () => async () => {
		await sleep(slowMs, undefined, { ref: false });
		return undefined;
	},
	"stalls finality": () => {
		let final: unknown;
		return ({ method, params }, result) => {
			if (method !== "eth_getBlockByNumber" || params[0] !== "finalized") return undefined;
			final ??= result;
			return { result: final };
		};
	},
};

type Log = { transactionHash: Hash };
type Receipt = { transactionHash: Hash; logs: Log[] };

/**
 * Denies one transaction of the service, the first in its logs. Its receipt reports a failure, and its events are left
 * out.
 */
function lieAboutReceipt(): Liar {
	let denied: Hash | undefined;
	return ({ method }, result) => {
		if (method === "eth_getLogs") {
			const logs = result as Log[];
			denied ??= logs[0]?.transactionHash;
			const left = logs.filter(({ transactionHash }) => transactionHash !== denied);
			return left.length < logs.length ? { result: left } : undefined;
		}
		const deny = <One extends Receipt>(one: One) =>
			one.transactionHash === denied ? { ...one, status: "0x0", gasUsed: "0x5208", logs: [] } : one;
		const receipt = result as Receipt | null;
		const isDenied = method === "eth_getTransactionReceipt" && receipt?.transactionHash === denied;
		return receipt && isDenied ? { result: deny(receipt) } : undefined;
	};
}

/** The place of the block among the parameters, by method. */
const blockParameter: Record<string, number> = {
	eth_call: 1,
	eth_estimateGas: 1,
	eth_simulateV1: 1,
	eth_getBalance: 1,
	eth_getCode: 1,
	eth_getTransactionCount: 1,
	eth_getStorageAt: 2,
	eth_feeHistory: 1,
	eth_getBlockByNumber: 0,
};

/** Answers as the node did some blocks ago. */
async function askBackThen(node: LyingNode, call: LyingNodeCall): Promise<Awaited<ReturnType<Liar>>> {
	const { method, params } = call;
	const ask = async (asked: LyingNodeCall) => {
		const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...asked });
		const response = await fetch(node.targetUrl, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body,
		});
		return (await response.json()) as { result: unknown } | { error: { code: number; message: string } };
	};
	const numberOf = async (asked: LyingNodeCall) => {
		const { result } = (await ask(asked)) as { result?: Hex | { number?: Hex } | null };
		return Number(typeof result === "object" ? (result?.number ?? 0) : result);
	};
	const limit = (await numberOf({ method: "eth_blockNumber", params: [] })) - lagBlocks;
	const missing = { error: { code: -32_000, message: "header not found" } };
	if (method === "eth_blockNumber") return { result: hex(limit) };
	const hash = method === "eth_getLogs" ? (params[0] as { blockHash?: Hash }).blockHash : params[0];
	const isByHash = method === "eth_getBlockByHash" || method === "eth_getLogs";
	if (isByHash && typeof hash === "string") {
		const number = await numberOf({ method: "eth_getBlockByHash", params: [hash, false] });
		if (number <= limit) return undefined;
		return method === "eth_getLogs" ? missing : { result: null };
	}
	const place = blockParameter[method];
	if (place === undefined) return undefined;
	const block = params[place];
	if (typeof block === "string" && block.startsWith("0x")) {
		if (Number(block) <= limit) return undefined;
		return method === "eth_getBlockByNumber" ? { result: null } : missing;
	}
	const finalized = () => numberOf({ method: "eth_getBlockByNumber", params: ["finalized", false] });
	const number = block === "finalized" ? (await finalized()) - lagBlocks : limit;
	return ask({ method, params: [...params.slice(0, place), hex(number), ...params.slice(place + 1)] });
}

function hex(value: number): Hex {
	return `0x${value.toString(16)}`;
}
