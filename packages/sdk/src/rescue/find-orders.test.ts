import { geoEscrowAbi, type Order, orderId, orderTerms, packDeadlines, toWord } from "@geoswap/protocol";
import {
	createPublicClient,
	custom,
	encodeAbiParameters,
	encodeEventTopics,
	getAbiItem,
	type Hex,
	hexToNumber,
	numberToHex,
	zeroHash,
} from "viem";
import { expect, test } from "vitest";
import { account, makePins } from "../../test/op-fixture.ts";
import { findOrders } from "./find-orders.ts";

const secondsPerBlock = 2;
const lastBlock = 50_000;
const wallet = account.address;
const [chain] = makePins().chains;
if (!chain) throw new Error("the fixture has a chain");
const escrow = chain.contracts.escrow;

test("orders are found newest first, in ranges that a strict endpoint accepts", async () => {
	const orders = [40_000, 20_000, 49_999].map(orderAt);
	const node = fakeNode({ orders, maxBlocks: 700 });
	const found = await findOrders(node.client, { chain, wallet, sinceMs: timeOf(19_000) });
	expect(found.map(({ blockNumber }) => Number(blockNumber))).toEqual([49_999, 40_000, 20_000]);
	expect(Math.min(...node.ranges.map(([from]) => from))).toBe(19_000);
	expect(found[0]?.orderId).toBe(orderId(orderAt(49_999).order));
});

test("blocks whose logs an endpoint refuses do not slow down the reading of other blocks", async () => {
	const orders = [49_001, 49_000].map(orderAt);
	const node = fakeNode({ orders, maxBlocks: 10_000, maxLogs: 1 });
	const found = await findOrders(node.client, { chain, wallet, sinceMs: timeOf(1) });
	expect(found.map(({ blockNumber }) => Number(blockNumber))).toEqual([49_001, 49_000]);
	expect(node.ranges.length).toBeLessThan(30);
});

test("an order whose id differs from its event's id is refused", async () => {
	const node = fakeNode({ orders: [{ ...orderAt(40_000), orderId: zeroHash }], maxBlocks: 10_000 });
	await expect(findOrders(node.client, { chain, wallet, sinceMs: timeOf(39_000) })).rejects.toThrow(
		"does not have this id",
	);
});

test("the search ends if an endpoint refuses even a single block", async () => {
	const node = fakeNode({ orders: [], maxBlocks: 0 });
	await expect(findOrders(node.client, { chain, wallet, sinceMs: timeOf(39_000) })).rejects.toThrow(
		"too many blocks",
	);
});

type Opened = { block: number; order: Order; orderId: Hex };

function orderAt(block: number): Opened {
	const word = (n: number) => numberToHex(n, { size: 32 });
	const order: Order = {
		originChainId: 31337n,
		destinationChainId: 31338n,
		escrow: toWord(escrow),
		originVault: word(1),
		destinationVault: word(2),
		attesterSet: word(3),
		wallet: toWord(wallet),
		inputToken: word(4),
		inputAmount: 10_000_000n,
		outputToken: word(5),
		minOutput: 9_900_000n,
		recipient: word(6),
		topUp: 0n,
		swapKey: word(block),
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
	};
	return { block, order, orderId: orderId(order) };
}

function timeOf(block: number): number {
	return block * secondsPerBlock * 1_000;
}

/** A node that refuses to search more than `maxBlocks` blocks in one request, or to return more than `maxLogs`. */
function fakeNode({
	orders,
	maxBlocks,
	maxLogs = orders.length,
}: {
	orders: Opened[];
	maxBlocks: number;
	maxLogs?: number;
}) {
	const ranges: [number, number][] = [];
	const request = async ({ method, params }: { method: string; params?: unknown }) => {
		const [first] = params as [string | { fromBlock: Hex; toBlock: Hex }];
		if (method === "eth_getBlockByNumber") {
			const number = first === "latest" ? lastBlock : hexToNumber(first as Hex);
			return {
				number: numberToHex(number),
				timestamp: numberToHex(number * secondsPerBlock),
				transactions: [],
			};
		}
		const { fromBlock, toBlock } = first as { fromBlock: Hex; toBlock: Hex };
		const [from, to] = [hexToNumber(fromBlock), hexToNumber(toBlock)];
		if (to - from + 1 > maxBlocks) throw Object.assign(new Error("too many blocks"), { code: -32_600 });
		const found = orders.filter(({ block }) => block >= from && block <= to);
		if (found.length > maxLogs) throw Object.assign(new Error("too many logs"), { code: -32_600 });
		ranges.push([from, to]);
		return found.sort((a, b) => a.block - b.block).map(toLog);
	};
	return {
		client: createPublicClient({ transport: custom({ request }, { retryCount: 0 }) }),
		ranges,
	};
}

function toLog({ block, order, orderId: id }: Opened) {
	const [, , terms] = getAbiItem({ abi: geoEscrowAbi, name: "Opened" }).inputs;
	return {
		address: escrow,
		topics: encodeEventTopics({
			abi: geoEscrowAbi,
			eventName: "Opened",
			args: { orderId: id, wallet },
		}),
		data: encodeAbiParameters([terms], [orderTerms(order)]),
		blockNumber: numberToHex(block),
		blockHash: zeroHash,
		transactionHash: zeroHash,
		transactionIndex: "0x0",
		logIndex: "0x0",
		removed: false,
	};
}
