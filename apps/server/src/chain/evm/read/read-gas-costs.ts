import type { Wei } from "@geoswap/protocol";
import type { Hash } from "viem";
import type { EvmChain } from "../chain-client.ts";
import { feeModelOf } from "../fee/fee-model-of.ts";

/** Reads what these transactions of a block cost their sender, with one call however many they are. */
export async function readGasCosts(
	{ client, deployment }: EvmChain,
	{ blockHash, hashes }: { blockHash: Hash; hashes: readonly Hash[] },
): Promise<{ hash: Hash; gasCost: Wei }[]> {
	const receipts = await client.request({ method: "eth_getBlockReceipts", params: [blockHash] });
	const ours = (receipts ?? []).filter((receipt) => hashes.includes(receipt.transactionHash));
	if (ours.length !== hashes.length) throw new Error(`block ${blockHash} lacks receipts of its transactions`);
	const { paid } = feeModelOf(deployment);
	return ours.map((receipt) => ({ hash: receipt.transactionHash, gasCost: paid(receipt) }));
}
