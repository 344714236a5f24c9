import {
	type ChainDeployment,
	fromSwapKey,
	geoEscrowAbi,
	greater,
	type Order,
	orderId,
	type SwapId,
	toSwapId,
	toWord,
} from "@geoswap/protocol";
import { type Address, getAbiItem, getAddress, type Hash, type PublicClient } from "viem";
import { getBlock, getLogs } from "viem/actions";

/** An order that a wallet has opened, as the escrow's event says. */
export type OpenedOrder = {
	order: Order;
	orderId: Hash;
	/** Undefined if the order was not made by the service: its word is no swap's id. */
	swapId: SwapId | undefined;
	escrow: Address;
	transactionHash: Hash;
	blockNumber: bigint;
};

const opened = getAbiItem({ abi: geoEscrowAbi, name: "Opened" });
/** Most public endpoints answer for this many blocks at once. A range that is refused is halved. */
const mostBlocks = 10_000n;

/**
 * Finds the orders that a wallet opened on a chain since a moment, newest first, with nothing but the chain's own
 * events. Every order is computed again from its event: an endpoint that invents one is noticed.
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
	let size = mostBlocks;
	while (last >= first) {
		onProgress(last - first + 1n);
		const from = greater(last - size + 1n, first);
		try {
			const logs = await getLogs(client, {
				address: escrows,
				event: opened,
				args: { wallet },
				fromBlock: from,
				toBlock: last,
				strict: true,
			});
			found.push(...logs.reverse().map((log) => readOrder(log, { chainId, wallet })));
			last = from - 1n;
		} catch (error) {
			if (error instanceof InventedOrder || size === 1n) throw error;
			size = size / 2n;
		}
	}
	return found;
}

/** An endpoint returned an event whose order has another id than the event says. */
class InventedOrder extends Error {}

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
		throw new InventedOrder(
			`the endpoint returned an order ${log.args.orderId} that does not have this id: use another endpoint`,
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
