import { type Liar, type LyingNode, type LyingNodeCall, startLyingNode } from "@geoswap/devnet";
import type { Hash, Hex } from "viem";

/** Limits of a provider, and a block whose logs it never returns. */
export type Caps = {
	/** The largest number of logs in an answer. */
	maxLogs?: number;
	/** The size of the largest answer, in bytes. The service's other requests have at most 52 kB on the devnet. */
	maxBytes?: number;
	/** A block whose logs the provider never returns, regardless of the filter. */
	unreadableBlock?: bigint;
};

export type CappingProvider = Pick<LyingNode, "url" | "stop"> & {
	/** Replaces all limits. */
	setCaps: (caps: Caps) => void;
	/** The number of refused calls, by method. */
	refused: Record<string, number>;
	/** The size of the largest answer so far, refused or not, by method. */
	maxBytes: Record<string, number>;
};

type Lie = Awaited<ReturnType<Liar>>;

/** Ways in which providers refuse an answer for its size, in turn. */
const refusals = (maximum: number): readonly Lie[] => [
	{ error: { code: -32_005, message: `query returned more than ${maximum} results` } },
	{ error: { code: -32_602, message: "Log response size exceeded. Try a smaller block range." } },
	{ status: 413 },
	{ status: 429 },
];

/** Starts a provider in front of a node, without limits. */
export async function startCappingProvider({ targetUrl }: { targetUrl: string }): Promise<CappingProvider> {
	const node = await startLyingNode({ targetUrl });
	const refused: Record<string, number> = {};
	const maxBytes: Record<string, number> = {};
	let caps: Caps = {};
	let unreadableHash: Hash | undefined;
	let turn = 0;

	node.liar = (call, result, answerBytes) => {
		const { method } = call;
		maxBytes[method] = Math.max(maxBytes[method] ?? 0, answerBytes);
		noteUnreadable(result);
		const maximum = exceeded(call, result, answerBytes);
		if (maximum === undefined) return undefined;
		refused[method] = (refused[method] ?? 0) + 1;
		const ways = refusals(maximum);
		return ways[turn++ % ways.length];
	};
	return {
		url: node.url,
		stop: node.stop,
		setCaps: (next) => {
			caps = next;
			unreadableHash = undefined;
		},
		refused,
		maxBytes,
	};

	/** Keeps the hash of the unreadable block, by which its logs may be requested. */
	function noteUnreadable(result: unknown): void {
		const { number, hash, parentHash } = (result ?? {}) as { number?: Hex; hash?: Hash; parentHash?: Hash };
		if (caps.unreadableBlock === undefined || !number || !hash || !parentHash) return;
		if (BigInt(number) === caps.unreadableBlock) unreadableHash = hash;
	}

	/** Returns the limit that the answer exceeds; undefined if it exceeds none. */
	function exceeded(call: LyingNodeCall, result: unknown, answerBytes: number): number | undefined {
		const { maxLogs = Infinity, maxBytes = Infinity } = caps;
		if (isAboutUnreadable(call)) return 0;
		if (call.method === "eth_getLogs" && Array.isArray(result) && result.length > maxLogs) return maxLogs;
		return answerBytes > maxBytes ? maxBytes : undefined;
	}

	function isAboutUnreadable({ method, params }: LyingNodeCall): boolean {
		if (caps.unreadableBlock === undefined) return false;
		if (method !== "eth_getLogs" && method !== "eth_getBlockReceipts") return false;
		const [asked] = params;
		if (method === "eth_getBlockReceipts") {
			return asked === unreadableHash || asked === `0x${caps.unreadableBlock.toString(16)}`;
		}
		const { blockHash, fromBlock, toBlock } = asked as { blockHash?: Hash; fromBlock?: Hex; toBlock?: Hex };
		if (blockHash) return blockHash === unreadableHash;
		const first = blockNumberOf(fromBlock, 0n);
		const last = blockNumberOf(toBlock, caps.unreadableBlock);
		return first <= caps.unreadableBlock && caps.unreadableBlock <= last;
	}
}

function blockNumberOf(block: Hex | undefined, otherwise: bigint): bigint {
	return block?.startsWith("0x") ? BigInt(block) : otherwise;
}
