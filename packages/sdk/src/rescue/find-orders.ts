import {
	type ChainDeployment,
	fromSwapKey,
	geoEscrowAbi,
	greater,
	type LogPart,
	lesser,
	moneyEventTopics,
	type Order,
	orderId,
	readLogs,
	type SwapId,
	toSwapId,
	toWord,
} from "@geoswap/protocol";
import {
	type Address,
	formatLog,
	getAddress,
	type Hash,
	type Log,
	numberToHex,
	type PublicClient,
	parseEventLogs,
} from "viem";
import { getBlock } from "viem/actions";

/** An order that a wallet has opened, from the escrow's event. */
export type OpenedOrder = {
	order: Order;
	orderId: Hash;
	/** Undefined if the service did not make the order, since its `swapKey` is then no swap's id. */
	swapId: SwapId | undefined;
	escrow: Address;
	transactionHash: Hash;
	blockNumber: bigint;
};

/** Most public endpoints return logs of this many blocks in one request. */
const maxBlocks = 10_000n;

/**
 * Finds the orders that a wallet opened on a chain since a moment, newest first, with nothing but the chain's own
 * events. Every order is computed again from its event, so an endpoint that invents an order is noticed. Only this one
 * event of this wallet is requested, so strangers cannot make a response too large. A range that is refused
 * nevertheless is halved.
 */
export async function findOrders(
	client: PublicClient,
	{
		chain: { chainId, contracts, deployedAtBlock },
		wallet,
		sinceMs,
		onProgress = () => {},
	}: {
		chain: ChainDeployment;
		wallet: Address;
		/** Unix milliseconds. */
		sinceMs: number;
		/** Called with the number of blocks that are left to read. */
		onProgress?: (blocksLeft: bigint) => void;
	},
): Promise<OpenedOrder[]> {
	let last = (await getBlock(client, { blockTag: "latest" })).number;
	const first = await firstBlockSince(client, { sinceMs, from: BigInt(deployedAtBlock), to: last });
	const escrows = [contracts.escrow, ...contracts.earlierEscrows];
	const found: OpenedOrder[] = [];
	let size = maxBlocks;
	while (last >= first) {
		onProgress(last - first + 1n);
		const from = greater(last - size + 1n, first);
		// The next range is as long as the longest one that was returned, or twice as long as this one if all of it was.
		let longest = 0n;
		const { logs } = await readLogs(
			{ fromBlock: Number(from), toBlock: Number(last), topics: [moneyEventTopics().Opened] },
			{
				read: async (part) => {
					const answer = await requestOpened(client, { escrows, wallet, part });
					longest = greater(longest, BigInt(part.toBlock - part.fromBlock + 1));
					return answer;
				},
			},
		);
		const opened = parseEventLogs({ abi: geoEscrowAbi, logs, eventName: "Opened", strict: true });
		const byPlace = opened.sort(
			(one, other) => Number(other.blockNumber - one.blockNumber) || other.logIndex - one.logIndex,
		);
		found.push(...byPlace.map((log) => readOrder(log, { chainId, wallet })));
		size = longest === last - from + 1n ? lesser(2n * size, maxBlocks) : longest;
		last = from - 1n;
	}
	return found;
}

async function requestOpened(
	client: PublicClient,
	{ escrows, wallet, part }: { escrows: Address[]; wallet: Address; part: LogPart },
): Promise<Log<bigint, number, false>[]> {
	const filter = {
		address: escrows,
		fromBlock: numberToHex(part.fromBlock),
		toBlock: numberToHex(part.toBlock),
		topics: [[...part.topics], null, [toWord(wallet)]],
	};
	const logs = await client.request({ method: "eth_getLogs", params: [filter] });
	return logs.map((log) => formatLog(log) as Log<bigint, number, false>);
}

function readOrder(
	log: {
		address: Address;
		args: { orderId: Hash; wallet: Address; terms: Omit<Order, "originChainId" | "escrow" | "wallet"> };
		transactionHash: Hash;
		blockNumber: bigint;
	},
	{ chainId, wallet }: { chainId: number; wallet: Address },
): OpenedOrder {
	const order: Order = {
		...log.args.terms,
		originChainId: BigInt(chainId),
		escrow: toWord(log.address),
		wallet: toWord(wallet),
	};
	if (orderId(order) !== log.args.orderId) {
		throw new Error(
			`the endpoint returned an order ${log.args.orderId} that does not have this id; use another endpoint`,
		);
	}
	return {
		order,
		orderId: log.args.orderId,
		swapId: swapIdOf(order),
		escrow: getAddress(log.address),
		transactionHash: log.transactionHash,
		blockNumber: log.blockNumber,
	};
}

function swapIdOf({ swapKey }: Order): SwapId | undefined {
	try {
		return toSwapId(fromSwapKey(swapKey));
	} catch {
		return undefined;
	}
}

/** Returns the first block whose time is not before the moment, by bisection. */
async function firstBlockSince(
	client: PublicClient,
	{ sinceMs, from, to }: { sinceMs: number; from: bigint; to: bigint },
): Promise<bigint> {
	let [low, high] = [from, to];
	while (low < high) {
		const middle = (low + high) / 2n;
		const { timestamp } = await getBlock(client, { blockNumber: middle });
		if (Number(timestamp) * 1_000 < sinceMs) low = middle + 1n;
		else high = middle;
	}
	return low;
}
