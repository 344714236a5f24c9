import { type Amount, geoVaultAbi } from "@geoswap/protocol";
import {
	type Address,
	decodeFunctionResult,
	encodeFunctionData,
	erc20Abi,
	getChainContractAddress,
	multicall3Abi,
	zeroAddress,
} from "viem";
import type { EvmChain } from "../connect-chain.ts";

/** Reads the holders' total balance of each token, at one block. The zero address is the native token. */
export async function readBalances(
	chain: EvmChain,
	{
		holders,
		tokens,
		blockNumber,
	}: { holders: readonly Address[]; tokens: readonly Address[]; blockNumber: number },
): Promise<bigint[]> {
	const read = await chain.client.multicall({
		allowFailure: false,
		batchSize: 0,
		blockNumber: BigInt(blockNumber),
		contracts: tokens.flatMap((token) => holders.map((holder) => balanceCall(chain, { token, holder }))),
	});
	return tokens.map((_, i) =>
		read.slice(i * holders.length, (i + 1) * holders.length).reduce((sum, balance) => sum + balance, 0n),
	);
}

/** Returns the item of a multicall that reads one balance. */
function balanceCall({ client }: EvmChain, { token, holder }: { token: Address; holder: Address }) {
	if (token !== zeroAddress) {
		return { address: token, abi: erc20Abi, functionName: "balanceOf" as const, args: [holder] as const };
	}
	const address = getChainContractAddress({ chain: client.chain, contract: "multicall3" });
	return { address, abi: multicall3Abi, functionName: "getEthBalance" as const, args: [holder] as const };
}

/** Reads the holder's current balance of a token. Stops waiting once the signal aborts. */
export async function readTokenBalance(
	{ client }: EvmChain,
	{ token, holder, signal }: { token: Address; holder: Address; signal: AbortSignal },
): Promise<bigint> {
	const call = { abi: erc20Abi, functionName: "balanceOf" } as const;
	const { data = "0x" } = await client.call({
		to: token,
		data: encodeFunctionData({ ...call, args: [holder] }),
		requestOptions: { signal },
	});
	return decodeFunctionResult({ ...call, data });
}

/** The kind of a cap on fills, as the vault numbers the kinds. */
const fillCap = 0;

type InventoryReading = { token: Address; balance: bigint; outflowAvailable: Amount };

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
