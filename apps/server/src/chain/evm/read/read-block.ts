import type { Wei } from "@geoswap/protocol";
import { formatLog, type Hash, type Log } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { feeModelOf } from "../fee/fee-model.ts";
import { type ContractEvent, decodeEvents } from "./decode-events.ts";

export type Block = {
	number: number;
	hash: Hash;
	parentHash: Hash;
	timestamp: number;
	baseFee: Wei;
	transactionHashes: readonly Hash[];
};

/** Reads a block as the chain has it now: by its number, or the newest, or the newest final one. */
export async function readBlock(
	{ client }: EvmChain,
	which: number | "latest" | "finalized",
): Promise<Block> {
	const block = await client.getBlock(
		typeof which === "number" ? { blockNumber: BigInt(which) } : { blockTag: which },
	);
	return {
		number: Number(block.number),
		hash: block.hash,
		parentHash: block.parentHash,
		timestamp: Number(block.timestamp),
		baseFee: block.baseFeePerGas ?? 0n,
		transactionHashes: block.transactions,
	};
}

/** One of the service's transactions in a block: what it cost its sender, and the events of our contracts in it. */
type ReadReceipt = { hash: Hash; gasCost: Wei; events: ContractEvent[] };

/**
 * Reads the receipts of the service's transactions in a block, each by its hash, because the receipts of the whole
 * block contain what others put there. Also returns the errors of the receipts that could not be read.
 */
export async function readReceipts(
	{ client, deployment }: EvmChain,
	{ blockHash, hashes }: { blockHash: Hash; hashes: readonly Hash[] },
): Promise<{ receipts: ReadReceipt[]; errors: unknown[] }> {
	const { paid } = feeModelOf(deployment);
	const read = async (hash: Hash): Promise<ReadReceipt> => {
		const receipt = await client.request({ method: "eth_getTransactionReceipt", params: [hash] });
		if (receipt?.blockHash !== blockHash) throw new Error(`block ${blockHash} lacks the receipt of ${hash}`);
		const logs = receipt.logs.map((log) => formatLog(log)) as Log<bigint, number, false>[];
		return { hash, gasCost: paid(receipt), events: decodeEvents(deployment, logs) };
	};
	const results = await Promise.allSettled(hashes.map(read));
	return {
		receipts: results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])),
		errors: results.flatMap((result) => (result.status === "rejected" ? [result.reason] : [])),
	};
}
