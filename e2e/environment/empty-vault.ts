import { deriveDevnetKeys, sendAllAs, type TestChain } from "@geoswap/devnet";
import { geoVaultAbi } from "@geoswap/protocol";
import { type Address, encodeFunctionData } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { tokenBalance } from "../chain/token-balance.ts";

/** Has the treasury take everything out of a vault, and returns the number of the next block. */
export async function emptyVault(chain: TestChain): Promise<number> {
	const { assets, contracts } = chain.deployment;
	const to = contracts.vault;
	const treasury = privateKeyToAddress(deriveDevnetKeys().treasury);
	const calls = await Promise.all(
		assets.map(async ({ address }: { address: Address }) => {
			const args = [address, treasury, await tokenBalance(chain, address, to)] as const;
			return { to, data: encodeFunctionData({ abi: geoVaultAbi, functionName: "withdraw", args }) };
		}),
	);
	await sendAllAs(chain, treasury, calls);
	return Number(await chain.publicClient.getBlockNumber({ cacheTime: 0 })) + 1;
}
