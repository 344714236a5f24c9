import type { Wei } from "@geoswap/protocol";
import { type Hash, hexToBigInt, type RpcTransactionReceipt } from "viem";
import type { EvmChain } from "../chain-client.ts";

/** Reads what these transactions of a block cost their sender, with one call however many they are. */
export async function readGasCosts(
	{ client }: EvmChain,
	{ blockHash, hashes }: { blockHash: Hash; hashes: readonly Hash[] },
): Promise<{ hash: Hash; gasCost: Wei }[]> {
	const receipts = await client.request({ method: "eth_getBlockReceipts", params: [blockHash] });
	const ours = (receipts ?? []).filter((receipt) => hashes.includes(receipt.transactionHash));
	if (ours.length !== hashes.length) throw new Error(`block ${blockHash} lacks receipts of its transactions`);
	return ours.map((receipt) => ({ hash: receipt.transactionHash, gasCost: gasCost(receipt) }));
}

function gasCost(receipt: RpcTransactionReceipt): bigint {
	// The fee that an OP-stack chain charges for the chain below it.
	const { l1Fee } = receipt as { l1Fee?: `0x${string}` };
	return (
		hexToBigInt(receipt.gasUsed) * hexToBigInt(receipt.effectiveGasPrice) + (l1Fee ? hexToBigInt(l1Fee) : 0n)
	);
}
