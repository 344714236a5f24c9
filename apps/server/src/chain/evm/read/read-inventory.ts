import { type Amount, geoVaultAbi } from "@geoswap/protocol";
import { type Address, zeroAddress } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { balanceCall } from "./read-balances.ts";

/** The kind of a cap on fills, as the vault numbers the kinds. */
const fillCap = 0;

export type InventoryReading = { token: Address; balance: bigint; outflowAvailable: Amount };

/** Reads the current vault's balance and available outflow of each asset, at one block, with one call. */
export async function readInventory(
	chain: EvmChain,
	{ blockNumber }: { blockNumber: number },
): Promise<InventoryReading[]> {
	const { vault } = chain.deployment.contracts;
	const tokens = chain.deployment.assets.map((asset) => asset.address);
	const read = await chain.client.multicall({
		allowFailure: false,
		batchSize: 0,
		blockNumber: BigInt(blockNumber),
		contracts: [
			...tokens.map((token) => balanceCall(chain, { token, holder: vault })),
			...tokens.map((token) => ({
				address: vault,
				abi: geoVaultAbi,
				functionName: "capOf" as const,
				args: [fillCap, token, zeroAddress] as const,
			})),
		],
	});
	return tokens.map((token, i) => {
		const [balance, cap] = [read[i], read[tokens.length + i]];
		return {
			token,
			balance: typeof balance === "bigint" ? balance : 0n,
			outflowAvailable: typeof cap === "object" ? cap[1] : 0n,
		};
	});
}
