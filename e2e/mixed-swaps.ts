import type { TestChain } from "@geoswap/devnet";
import type { EndedSwap } from "@geoswap/sdk";
import { type Address, type PrivateKeyAccount, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import type { SignedSwap } from "./do-swap.ts";
import type { Environment } from "./environment.ts";

type Side = { chain: TestChain; token: string };

/** What is to be swapped. Each has a recipient of its own: what that holds in the end is what this swap paid. */
export type PlannedSwap = { from: Side & { amount: bigint }; to: Side; recipient: Address };

export type EndedPlan = PlannedSwap & { account: PrivateKeyAccount; signed: SignedSwap; swap: EndedSwap };

type Kind = { from: string; amount: string; to: string; way: "there" | "back" | "here" };

/** From stock and through the router, native and not, both ways and on one chain. */
const kinds: readonly Kind[] = [
	{ from: "USDC", amount: "100", to: "USDC", way: "there" },
	{ from: "USDC", amount: "50", to: "ORB", way: "there" },
	{ from: "USDT", amount: "70.000001", to: "USDC", way: "here" },
	{ from: "ETH", amount: "0.05", to: "USDT", way: "there" },
	{ from: "USDC", amount: "100", to: "USDC", way: "back" },
	{ from: "ORB", amount: "40", to: "ETH", way: "there" },
	{ from: "USDC", amount: "80", to: "WETH", way: "here" },
];

/** The n-th of a mix of all kinds. */
export function planSwap({ origin, destination }: Environment, n: number): PlannedSwap {
	const kind = kinds[n % kinds.length];
	if (!kind) throw new RangeError("there are kinds of swaps");
	const from = kind.way === "back" ? destination : origin;
	const to = kind.way === "there" ? destination : origin;
	const asset = from.deployment.assets.find(({ symbol }) => symbol === kind.from);
	if (!asset) throw new Error(`no asset ${kind.from} on chain ${from.chainId}`);
	return {
		from: { chain: from, token: kind.from, amount: parseUnits(kind.amount, asset.decimals) },
		to: { chain: to, token: kind.to },
		recipient: privateKeyToAddress(generatePrivateKey()),
	};
}

export function countStatuses(swaps: readonly EndedPlan[]): Record<EndedSwap["status"], number> {
	const counts = { settled: 0, failed: 0, refunded: 0 };
	for (const { swap } of swaps) counts[swap.status]++;
	return counts;
}
