import type { Wei } from "@geoswap/protocol";
import type { Hash } from "viem";
import type { EvmChain } from "../connect-chain.ts";

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
