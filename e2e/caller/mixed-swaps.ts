import type { TestChain } from "@geoswap/devnet";
import type { EndedSwap, Quote } from "@geoswap/sdk";
import { generateKeyPairSigner } from "@solana/kit";
import { type Address, type PrivateKeyAccount, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { type AnyChain, isSolanaChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import type { SignedSwap } from "./do-swap.ts";

type Side<Chain extends AnyChain> = { chain: Chain; token: string };

/** A swap to be made. Each has its own recipient, whose final balance is what this swap paid. */
export type PlannedSwap<Chain extends AnyChain = TestChain, Recipient extends string = Address> = {
	from: Side<Chain> & { amount: bigint };
	to: Side<Chain>;
	recipient: Recipient;
};

export type EndedPlan = PlannedSwap & { account: PrivateKeyAccount; signed: SignedSwap; swap: EndedSwap };

/** A swap from or to a chain of any kind. */
export type AnyPlan = PlannedSwap<AnyChain, string>;

export type EndedAnyPlan = AnyPlan & {
	account: { address: string };
	signed: { quote: Quote };
	swap: EndedSwap;
};

type Kind = { from: string; amount: string; to: string; way: "there" | "back" | "here" };

/** Kinds of swaps from inventory and through the router, native and not, both ways and on one chain. */
const kinds: readonly Kind[] = [
	{ from: "USDC", amount: "100", to: "USDC", way: "there" },
	{ from: "USDC", amount: "50", to: "ORB", way: "there" },
	{ from: "USDT", amount: "70.000001", to: "USDC", way: "here" },
	{ from: "ETH", amount: "0.05", to: "USDT", way: "there" },
	{ from: "USDC", amount: "100", to: "USDC", way: "back" },
	{ from: "ORB", amount: "40", to: "ETH", way: "there" },
	{ from: "USDC", amount: "80", to: "WETH", way: "here" },
];

/** Returns the n-th swap of a mix of all kinds. */
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

/** Kinds of swaps from, to and on Solana, stable and native, to recipients with and without an account. */
const solanaKinds: readonly { from: SolanaSide; amount: string; to: SolanaSide }[] = [
	{ from: "origin USDC", amount: "100", to: "solana USDC" },
	{ from: "solana USDC", amount: "60", to: "origin USDC" },
	{ from: "destination USDC", amount: "90", to: "solana SOL" },
	{ from: "solana USDT", amount: "70.000001", to: "destination ETH" },
	{ from: "solana USDC", amount: "50", to: "solana SOL" },
	{ from: "solana USDT", amount: "40", to: "solana USDC" },
	{ from: "solana SOL", amount: "0.5", to: "origin USDC" },
	{ from: "origin ETH", amount: "0.05", to: "solana USDT" },
];

type SolanaSide = `${"origin" | "destination" | "solana"} ${string}`;

/** Returns the n-th of a mix of swaps that all have Solana on one side or on both. */
export async function planSolanaSwap(environment: Environment, n: number): Promise<AnyPlan> {
	const kind = solanaKinds[n % solanaKinds.length];
	if (!kind) throw new RangeError("there are kinds of swaps");
	const sideOf = (side: SolanaSide) => {
		const [name, token = ""] = side.split(" ") as ["origin" | "destination" | "solana", string];
		const chain: AnyChain = environment[name];
		const asset = chain.deployment.assets.find(({ symbol }) => symbol === token);
		if (!asset) throw new Error(`no asset ${token} on chain ${chain.chainId}`);
		return { chain, token, decimals: asset.decimals };
	};
	const { decimals, ...from } = sideOf(kind.from);
	const { chain, token } = sideOf(kind.to);
	return {
		from: { ...from, amount: parseUnits(kind.amount, decimals) },
		to: { chain, token },
		recipient: isSolanaChain(chain)
			? (await generateKeyPairSigner()).address
			: privateKeyToAddress(generatePrivateKey()),
	};
}

/** Returns the n-th of a mix of all kinds on all chains. Every other one has Solana on one side or on both. */
export async function planMixedSwap(environment: Environment, n: number): Promise<AnyPlan> {
	const half = Math.floor(n / 2);
	return n % 2 === 0 ? planSwap(environment, half) : planSolanaSwap(environment, half);
}

export function countStatuses(swaps: readonly { swap: EndedSwap }[]): Record<EndedSwap["status"], number> {
	const counts = { settled: 0, failed: 0, refunded: 0 };
	for (const { swap } of swaps) counts[swap.status]++;
	return counts;
}
