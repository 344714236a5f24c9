import { geoVaultAbi, type Milliseconds } from "@geoswap/protocol";
import { type Address, formatLog, type Hash, type Hex, isAddressEqual, type Log, parseEventLogs } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";

/** What a chain has of the transaction of a burn. */
export type BurnSight =
	/** It is in a block, and moved nothing for this move. */
	{ status: "reverted" } | { status: "burned"; atMs: Milliseconds; isFinal: boolean };

/** Reads whether a transaction bridged for this move. Returns undefined if it is in no block. */
export async function readBurn(
	{ chainId, client }: EvmChain,
	{ transactionHash, vault, moveId }: { transactionHash: Hash; vault: Address; moveId: Hex },
): Promise<BurnSight | undefined> {
	const receipt = await requestChain(
		chainId,
		client.request({ method: "eth_getTransactionReceipt", params: [transactionHash] }),
	);
	if (!receipt) return undefined;
	const bridged = parseEventLogs({
		abi: geoVaultAbi,
		eventName: "Bridged",
		logs: receipt.logs.map((log) => formatLog(log)) as Log<bigint, number, false>[],
	}).some((log) => isAddressEqual(log.address, vault) && log.args.moveId === moveId);
	if (!bridged) return { status: "reverted" };
	const [block, finalized] = await requestChain(
		chainId,
		Promise.all([
			client.getBlock({ blockHash: receipt.blockHash }),
			client.getBlock({ blockTag: "finalized" }),
		]),
	);
	return {
		status: "burned",
		atMs: Number(block.timestamp) * 1_000,
		isFinal: block.number <= finalized.number,
	};
}
