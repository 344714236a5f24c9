import type { CallTraits, NodeCall, ShownHeights } from "./node-call.ts";

/** The place of the block among the parameters, by method. */
const blockParameter: Record<string, number> = {
	eth_call: 1,
	eth_estimateGas: 1,
	eth_simulateV1: 1,
	debug_traceCall: 1,
	eth_getBalance: 1,
	eth_getCode: 1,
	eth_getTransactionCount: 1,
	eth_getStorageAt: 2,
	eth_feeHistory: 1,
	eth_getBlockByNumber: 0,
	eth_getBlockReceipts: 0,
};

/** Calls whose answer never changes. */
const constants = new Set(["eth_chainId", "net_version", "web3_clientVersion"]);

/** Returns the traits of a call to an EVM node. */
export function evmCallTraits({ method, params }: NodeCall): CallTraits {
	const traits: CallTraits = {
		isSend: method === "eth_sendRawTransaction",
		isHeadPoll: false,
		needs: "head",
		shows: () => ({}),
		isLacking: () => false,
	};
	if (constants.has(method)) return { ...traits, needs: "any" };
	if (method === "eth_blockNumber") {
		return { ...traits, isHeadPoll: true, shows: (result) => ({ head: Number(result) }) };
	}
	if (method === "eth_getBlockByHash") {
		return { ...traits, needs: "any", shows: blockShown, isLacking: (result) => result === null };
	}
	if (method === "eth_getLogs") {
		const [filter] = params as [{ blockHash?: string; toBlock?: unknown }];
		if (filter.blockHash !== undefined) return { ...traits, needsBlockHash: filter.blockHash };
		return { ...traits, needs: heightOf(filter.toBlock) };
	}
	const place = blockParameter[method];
	if (place === undefined) return traits;
	const block = params[place];
	const needs = heightOf(block);
	if (method === "eth_getBlockByNumber") {
		return {
			...traits,
			isHeadPoll: block === "latest",
			needs,
			shows: (result) =>
				block === "latest"
					? blockShown(result)
					: block === "finalized"
						? { ...hashShown(result), final: Number((result as { number: string } | null)?.number ?? 0) }
						: hashShown(result),
			isLacking: (result) => result === null,
		};
	}
	if (method === "eth_getBlockReceipts") {
		const isHash = typeof block === "string" && block.length === 66;
		return {
			...traits,
			...(isHash ? { needsBlockHash: block } : { needs }),
			isLacking: (result) => result === null,
		};
	}
	return { ...traits, needs };
}

function heightOf(block: unknown): CallTraits["needs"] {
	if (typeof block === "object" && block !== null && "blockNumber" in block)
		return heightOf(block.blockNumber);
	if (typeof block === "string" && /^0x[0-9a-f]{1,15}$/i.test(block)) return Number(block);
	return block === "earliest" ? "any" : "head";
}

function blockShown(result: unknown): ShownHeights {
	const block = result as { number: string; hash: string } | null;
	return block ? { head: Number(block.number), blockHash: block.hash } : {};
}

function hashShown(result: unknown): ShownHeights {
	const block = result as { hash?: string } | null;
	return block?.hash ? { blockHash: block.hash } : {};
}
