import type { Wei } from "@geoswap/protocol";
import { formatLog, type Hash, type Log } from "viem";
import type { EvmChain } from "../chain-client.ts";
import { feeModelOf } from "../fee/fee-model-of.ts";
import { ourContracts } from "../our-contracts.ts";
import { type ContractEvent, decodeEvents } from "./decode-events.ts";

/**
 * Reads the receipts of a block, with one call however many there are. Returns what these transactions of the block cost
 * their sender, and the events of our contracts in the whole block.
 */
export async function readReceipts(
	{ client, deployment }: EvmChain,
	{ blockHash, hashes }: { blockHash: Hash; hashes: readonly Hash[] },
): Promise<{ mined: { hash: Hash; gasCost: Wei }[]; events: ContractEvent[] }> {
	const receipts = (await client.request({ method: "eth_getBlockReceipts", params: [blockHash] })) ?? [];
	const ours = receipts.filter((receipt) => hashes.includes(receipt.transactionHash));
	if (ours.length !== hashes.length) throw new Error(`block ${blockHash} lacks receipts of its transactions`);
	const { paid } = feeModelOf(deployment);
	// A busy block has thousands of logs, and nearly all of them are of other contracts.
	const { escrows, vaults } = ourContracts(deployment);
	const contracts = new Set([...escrows, ...vaults].map((address) => address.toLowerCase()));
	const logs = receipts
		.flatMap((receipt) => receipt.logs)
		.filter(({ address }) => contracts.has(address.toLowerCase()))
		.map((log) => formatLog(log));
	return {
		mined: ours.map((receipt) => ({ hash: receipt.transactionHash, gasCost: paid(receipt) })),
		events: decodeEvents(deployment, logs as Log<bigint, number, false>[]),
	};
}
