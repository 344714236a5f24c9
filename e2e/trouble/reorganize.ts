import { type TestChain, withoutBlocks } from "@geoswap/devnet";
import { geoEscrowAbi, geoVaultAbi } from "@geoswap/protocol";
import { type Hex, parseEventLogs } from "viem";

const orderEvents = ["Opened", "Released", "Refunded", "Filled", "Voided"] as const;

export type OrderEventLog = {
	name: (typeof orderEvents)[number];
	orderId: Hex;
	blockNumber: number;
	blockHash: Hex;
	transactionHash: Hex;
};

/** Returns a chain's events about orders, from a block on. */
export async function readOrderEvents(chain: TestChain, fromBlock: number): Promise<OrderEventLog[]> {
	const { escrow, vault } = chain.deployment.contracts;
	const logs = await chain.publicClient.getLogs({ address: [escrow, vault], fromBlock: BigInt(fromBlock) });
	return parseEventLogs({ abi: [...geoEscrowAbi, ...geoVaultAbi], logs }).flatMap(
		({ eventName, args, blockNumber, blockHash, transactionHash }) => {
			const name = orderEvents.find((one) => one === eventName);
			return name && "orderId" in args
				? [{ name, orderId: args.orderId, blockNumber: Number(blockNumber), blockHash, transactionHash }]
				: [];
		},
	);
}

/** The fate of a transaction about orders whose block is dropped, which is a block of the new fork, or none. */
type Fate = { inForkBlock: number } | "gone";

/**
 * Replaces the newest blocks by as many others in one step, as on a node that followed another fork. The chain's clock
 * goes on. Returns the order events that were dropped.
 */
export function reorganize(
	chain: TestChain,
	{
		firstDropped,
		fate = () => "gone",
	}: {
		/** Returns the number of the first block to drop, given the newest one's. */
		firstDropped: (latest: number) => number;
		fate?: (hash: Hex) => Fate;
	},
): Promise<OrderEventLog[]> {
	return withoutBlocks(chain, () => drop(chain, firstDropped, fate));
}

async function drop(
	chain: TestChain,
	firstDropped: (latest: number) => number,
	fate: (hash: Hex) => Fate,
): Promise<OrderEventLog[]> {
	const { publicClient, testClient } = chain;
	const latest = Number(await publicClient.getBlockNumber({ cacheTime: 0 }));
	const first = firstDropped(latest);
	const depth = latest - first + 1;
	const events = await readOrderEvents(chain, first);
	const kept: [Hex, number][] = [];
	for (const hash of new Set(events.map(({ transactionHash }) => transactionHash))) {
		const what = fate(hash);
		if (what === "gone") continue;
		const raw = await testClient.request<{
			Method: "debug_getRawTransaction";
			Parameters: [Hex];
			ReturnType: Hex;
		}>({ method: "debug_getRawTransaction", params: [hash] });
		kept.push([raw, Math.min(what.inForkBlock, depth - 1)]);
	}
	await testClient.request<{
		Method: "anvil_reorg";
		Parameters: [number, [Hex, number][]];
		ReturnType: null;
	}>({ method: "anvil_reorg", params: [depth, kept] });
	// Without this the clock would go on from the last common block, ever further behind.
	await testClient.request<{ Method: "anvil_setTime"; Parameters: [number]; ReturnType: unknown }>({
		method: "anvil_setTime",
		params: [Math.floor(Date.now() / 1_000)],
	});
	return events;
}
