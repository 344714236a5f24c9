import { type Hex, hexToBytes, keccak256 } from "viem";
import type { CallTraits, NodeCall, ShownBlock, ShownHeights } from "./node-call.ts";

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
		const [filter] = params as [LogFilter];
		if (filter.blockHash !== undefined) {
			return {
				...traits,
				needs: "any",
				needsBlockHash: filter.blockHash,
				mayLack: (result, { logsBloom }) => (result as unknown[]).length > 0 || mayHoldAny(filter, logsBloom),
				seemsToLack: (result, { logsBloom }) =>
					(result as unknown[]).length === 0 && isBloomSparse(logsBloom) && mayHoldAny(filter, logsBloom),
				tells: logsTold,
			};
		}
		return { ...traits, needs: heightOf(filter.toBlock) };
	}
	if (method === "eth_getTransactionReceipt") {
		return {
			...traits,
			isLacking: (result) => result === null,
			// A transaction of the service that has no events is unusual. It failed, or the node left its events out.
			mayLack: (result) => logsOfReceipt(result) === 0,
			seemsToLack: (result) => logsOfReceipt(result) === 0,
			tells: logsOfReceipt,
		};
	}
	const place = blockParameter[method];
	if (place === undefined) return traits;
	const block = params[place];
	const needs = heightOf(block);
	if (method === "eth_getBlockByNumber") {
		return {
			...traits,
			isHeadPoll: block === "latest",
			// A final block shows by itself how far the node is.
			needs: block === "finalized" ? "any" : needs,
			shows: (result) =>
				block === "latest"
					? blockShown(result)
					: block === "finalized"
						? { ...hashShown(result), final: Number((result as { number: string } | null)?.number ?? 0) }
						: hashShown(result),
			isLacking: (result) => result === null,
		};
	}
	return { ...traits, needs };
}

/** Returns the number of logs; -1 if one of them cannot be in the block. */
function logsTold(result: unknown, { logsBloom }: ShownBlock): number {
	const logs = result as { address: string; topics: string[] }[];
	const isInBlock = logs.every(({ address, topics }) =>
		[address, ...topics].every((word) => bloomMayHold(logsBloom, word)),
	);
	return isInBlock ? logs.length : -1;
}

function logsOfReceipt(result: unknown): number {
	return (result as { logs?: unknown[] } | null)?.logs?.length ?? 0;
}

/** A filter of logs. Each topic is a list of alternatives, one value, or null for any. */
type LogFilter = {
	blockHash?: string;
	toBlock?: unknown;
	address?: string | string[];
	topics?: (string | string[] | null)[];
};

/** Returns whether a block with this bloom filter may have a log that the filter selects. */
function mayHoldAny({ address = [], topics = [] }: LogFilter, logsBloom: string | undefined): boolean {
	return [address, ...topics]
		.filter((words) => words !== null)
		.every((words) => [words].flat().some((word) => bloomMayHold(logsBloom, word)));
}

function heightOf(block: unknown): CallTraits["needs"] {
	if (typeof block === "object" && block !== null && "blockNumber" in block)
		return heightOf(block.blockNumber);
	if (typeof block === "string" && /^0x[0-9a-f]{1,15}$/i.test(block)) return Number(block);
	return block === "earliest" ? "any" : "head";
}

function blockShown(result: unknown): ShownHeights {
	const block = result as { number: string; hash: string } | null;
	return block ? { head: Number(block.number), block } : {};
}

function hashShown(result: unknown): ShownHeights {
	const block = result as Partial<ShownBlock> | null;
	return block?.hash ? { block: { ...block, hash: block.hash } } : {};
}

/**
 * Returns false if a block with this bloom filter has no log with this address or topic. Without a filter, or with one
 * of another form, it may have any.
 */
function bloomMayHold(logsBloom: string | undefined, addressOrTopic: string): boolean {
	if (logsBloom?.length !== 2 + 512) return true;
	const bloom = hexToBytes(logsBloom as Hex);
	const hash = hexToBytes(keccak256(addressOrTopic as Hex));
	return [0, 2, 4].every((i) => {
		const bit = (((hash[i] ?? 0) << 8) | (hash[i + 1] ?? 0)) & 2047;
		return ((bloom[255 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1;
	});
}

/** Returns whether so few bits are set that an address is rarely found by chance, in less than one block of 64. */
function isBloomSparse(logsBloom: string | undefined): boolean {
	const bits = [...BigInt(logsBloom ?? 0).toString(2)].filter((bit) => bit === "1").length;
	return bits > 0 && bits <= 512;
}

/** Calls whose answer does not depend on the newest blocks. */
const solanaConstants = new Set(["getGenesisHash", "getVersion", "getMinimumBalanceForRentExemption"]);

/** Returns the traits of a call to a Solana node. */
export function solanaCallTraits({ method, params }: NodeCall): CallTraits {
	const commitment = params.reduce<string>(
		(found, param) =>
			typeof param === "object" && param !== null && "commitment" in param ? String(param.commitment) : found,
		"finalized",
	);
	const isHeadPoll = method === "getEpochInfo" || method === "getSlot";
	return {
		isSend: method === "sendTransaction",
		isHeadPoll: isHeadPoll && commitment !== "finalized",
		needs: solanaConstants.has(method) ? "any" : "head",
		shows: (result): ShownHeights => {
			const slot = slotOf(method, result);
			if (slot === undefined) return {};
			// The context of statuses has the newest slot that the node has processed, which may not be confirmed.
			if (method === "getSignatureStatuses") return { processed: slot };
			return commitment === "finalized" ? { final: slot } : { head: slot };
		},
		isLacking: () => false,
	};
}

/** Returns the slot of an answer, which is the answer itself, or a part of it or of its context. */
function slotOf(method: string, result: unknown): number | undefined {
	if (method === "getSlot") return Number(result);
	if (typeof result !== "object" || result === null) return undefined;
	const { absoluteSlot, context } = result as { absoluteSlot?: bigint; context?: { slot?: bigint } };
	const slot = absoluteSlot ?? context?.slot;
	return slot === undefined ? undefined : Number(slot);
}
