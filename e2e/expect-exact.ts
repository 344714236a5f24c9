import type { TestChain } from "@geoswap/devnet";
import { geoEscrowAbi, geoVaultAbi } from "@geoswap/protocol";
import type { Hex } from "viem";
import { expect } from "vitest";
import type { Environment } from "./environment.ts";
import { assetAddress } from "./make-order.ts";
import type { EndedPlan } from "./mixed-swaps.ts";
import { tokenBalance } from "./token-balance.ts";

/**
 * Expects each unit where the swap's status says it is: delivered once and exactly, or never taken, or given back. The
 * wallets held nothing but the inputs of these swaps.
 */
export async function expectExact(
	{ origin, destination }: Environment,
	swaps: readonly EndedPlan[],
): Promise<void> {
	const chains = [origin, destination];
	const [opened, filled] = await Promise.all([
		countByOrder(chains, "Opened"),
		countByOrder(chains, "Filled"),
	]);
	const outcomes = await Promise.all(
		swaps.map(async ({ from, to, recipient, signed, swap }) => {
			const { status, orderId, funds } = swap;
			const received = await tokenBalance(to.chain, assetAddress(to.chain, to.token), recipient);
			const isSettled = status === "settled";
			return {
				swapId: swap.swapId,
				opened: opened.get(orderId as Hex) ?? 0,
				filled: filled.get(orderId as Hex) ?? 0,
				received,
				isEnough: !isSettled || received >= BigInt(signed.quote.minOutput),
				expected: {
					opened: status === "failed" ? 0 : 1,
					filled: isSettled ? 1 : 0,
					received: isSettled ? BigInt(funds.amount) : 0n,
					isEnough: true,
				},
				input: from.amount,
			};
		}),
	);
	const wrong = outcomes.filter(({ expected, ...actual }) =>
		Object.entries(expected).some(([field, value]) => actual[field as keyof typeof actual] !== value),
	);
	expect(wrong).toEqual([]);
	// Nothing was delivered for anybody else, either.
	expect([...filled.values()].reduce((sum, count) => sum + count, 0)).toBe(
		swaps.filter(({ swap }) => swap.status === "settled").length,
	);
	const left = await Promise.all(
		[...byWallet(swaps).values()].map(async (own) => {
			const [{ account, from }] = own;
			const kept = own.filter(({ swap }) => swap.status !== "settled");
			const balance = await tokenBalance(from.chain, assetAddress(from.chain, from.token), account.address);
			return { wallet: account.address, missing: sum(kept.map((one) => one.from.amount)) - balance };
		}),
	);
	expect(left.filter(({ missing }) => missing !== 0n)).toEqual([]);
}

/** How often each order has an event of this name. */
async function countByOrder(
	chains: readonly TestChain[],
	eventName: "Opened" | "Filled",
): Promise<Map<Hex, number>> {
	const counts = new Map<Hex, number>();
	for (const { publicClient, deployment } of chains) {
		const { escrow, vault } = deployment.contracts;
		const fromBlock = 0n;
		const events =
			eventName === "Opened"
				? await publicClient.getContractEvents({ address: escrow, abi: geoEscrowAbi, eventName, fromBlock })
				: await publicClient.getContractEvents({ address: vault, abi: geoVaultAbi, eventName, fromBlock });
		for (const { args } of events) {
			if (args.orderId) counts.set(args.orderId, (counts.get(args.orderId) ?? 0) + 1);
		}
	}
	return counts;
}

/** By wallet, chain and token. */
function byWallet(swaps: readonly EndedPlan[]): Map<string, [EndedPlan, ...EndedPlan[]]> {
	const groups = new Map<string, [EndedPlan, ...EndedPlan[]]>();
	for (const one of swaps) {
		const key = `${one.account.address}:${one.from.chain.chainId}:${one.from.token}`;
		const group = groups.get(key);
		if (group) group.push(one);
		else groups.set(key, [one]);
	}
	return groups;
}

function sum(amounts: readonly bigint[]): bigint {
	return amounts.reduce((total, amount) => total + amount, 0n);
}
