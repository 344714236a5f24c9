import { type Amount, greater, type Milliseconds } from "@geoswap/protocol";
import { type Address, type Hex, hexToBigInt } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";
import { readEpoch } from "./read-epoch.ts";

const uint64 = (1n << 64n) - 1n;
const uint128 = (1n << 128n) - 1n;

/** Reads the wallet's epoch, and what a mandate's cap on a token leaves now. */
export async function readMandateUse(
	chain: Pick<EvmChain, "chainId" | "client">,
	{
		wallet,
		useSlot: slot,
		maxAmount,
		period,
		nowMs,
	}: { wallet: Address; useSlot: Hex; maxAmount: Amount; period: number; nowMs: Milliseconds },
): Promise<{ epoch: bigint; available: bigint }> {
	const [epoch, word] = await Promise.all([
		readEpoch(chain, wallet),
		requestChain(chain.chainId, chain.client.getStorageAt({ address: wallet, slot })),
	]);
	const spent = hexToBigInt(word ?? "0x0");
	const [used, updatedAt] = [spent & uint128, (spent >> 128n) & uint64];
	// The account computes the same. The whole cap drains away in a period.
	const elapsed = greater(BigInt(Math.floor(nowMs / 1_000)) - updatedAt, 0n);
	const drained = (maxAmount * elapsed) / BigInt(period);
	return { epoch, available: maxAmount - greater(used - drained, 0n) };
}
