import { randomBytes } from "node:crypto";
import type { TestChain, TestChains } from "@geoswap/devnet";
import { newSwapUuid, type Order, packDeadlines, toSwapKey, toWord } from "@geoswap/protocol";
import type { Address, Hex } from "viem";

/** A minute of chain time to open, and a minute for each later step, which is short enough to warp past. */
const stepSeconds = 60n;

/** Makes an order from one chain to the other, or on one, with terms that are valid now. */
export async function makeOrder({
	chains,
	wallet,
	inputToken,
	outputToken,
	inputAmount = 10_000_000n,
	minOutput = 9_900_000n,
	recipient = wallet,
	destination = chains.destination,
}: {
	chains: Pick<TestChains, "origin" | "destination">;
	wallet: Address;
	inputToken: Address;
	outputToken: Address;
	inputAmount?: bigint;
	minOutput?: bigint;
	recipient?: Address;
	destination?: TestChain;
}): Promise<Order> {
	const { origin } = chains;
	const { timestamp: now } = await origin.publicClient.getBlock();
	return {
		wallet: toWord(wallet),
		inputToken: toWord(inputToken),
		inputAmount,
		originChainId: BigInt(origin.chainId),
		destinationChainId: BigInt(destination.chainId),
		outputToken: toWord(outputToken),
		minOutput,
		recipient: toWord(recipient),
		topUp: 0n,
		escrow: toWord(origin.deployment.contracts.escrow),
		originVault: toWord(origin.deployment.contracts.vault),
		destinationVault: toWord(destination.deployment.contracts.vault),
		attesterSet: origin.deployment.attesterSet.hash,
		swapKey: randomSwapKey(),
		deadlines: packDeadlines({
			openDeadline: now + stepSeconds,
			fillDeadline: now + 2n * stepSeconds,
			refundAfter: now + 3n * stepSeconds,
		}),
	};
}

function randomSwapKey(): Hex {
	return toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) }));
}

/** Returns the address of an asset of the devnet by its symbol, in its chain's form. */
export function assetAddress<Address extends string>(
	chain: { chainId: number; deployment: { assets: readonly { symbol: string; address: Address }[] } },
	symbol: string,
): Address {
	const asset = chain.deployment.assets.find((candidate) => candidate.symbol === symbol);
	if (asset === undefined) throw new Error(`no asset ${symbol} on chain ${chain.chainId}`);
	return asset.address;
}
