import type { TestChain } from "@geoswap/devnet";
import { geoEscrowAbi, geoVaultAbi, lesser } from "@geoswap/protocol";
import type { Hex } from "viem";
import { expect } from "vitest";
import type { EndedAnyPlan } from "../caller/mixed-swaps.ts";
import { holding, isSolanaChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { wasFilled } from "../solana/program-state.ts";
import { solanaHoldings } from "../solana/solana-holdings.ts";

/**
 * Expects every unit to be where the swap's status requires it: delivered once and exactly, or never taken, or given
 * back. The wallets must have held nothing but the inputs of these swaps.
 */
export async function expectExact(
	{ origin, destination, solana }: Environment,
	swaps: readonly EndedAnyPlan[],
): Promise<void> {
	const chains = [origin, destination];
	const [opened, filled] = await Promise.all([
		countByOrder(chains, "Opened"),
		countByOrder(chains, "Filled"),
	]);
	const outcomes = await Promise.all(
		swaps.map(async ({ from, to, recipient, signed, swap }) => {
			const { status, orderId, funds } = swap;
			const received = await holding(to.chain, to.token, recipient);
			const isSettled = status === "settled";
			return {
				swapId: swap.swapId,
				// For a wallet on Solana the balance shows whether the input was taken, which is checked below.
				opened: isSolanaChain(from.chain) ? Number(status !== "failed") : (opened.get(orderId as Hex) ?? 0),
				filled: isSolanaChain(to.chain)
					? Number(await wasFilled(to.chain, orderId))
					: (filled.get(orderId as Hex) ?? 0),
				received,
				isEnough: !isSettled || received >= signed.quote.minOutput,
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
	// Nothing was delivered to any other recipient either.
	expect([...filled.values()].reduce((sum, count) => sum + count, 0)).toBe(
		swaps.filter(({ to, swap }) => swap.status === "settled" && !isSolanaChain(to.chain)).length,
	);
	await expectVaultExact(solana, swaps);
	const left = await Promise.all(
		[...byWallet(swaps).values()].map(async (own) => {
			const [{ account, from }] = own;
			const kept = own.filter(({ swap }) => swap.status !== "settled");
			const balance = await holding(from.chain, from.token, account.address);
			return { wallet: account.address, missing: sum(kept.map((one) => one.from.amount)) - balance };
		}),
	);
	expect(left.filter(({ missing }) => missing !== 0n)).toEqual([]);
}

/**
 * Expects the vault on Solana to hold, to the unit, its balance at the start plus the inputs minus the outputs of these
 * swaps.
 */
async function expectVaultExact(
	solana: Environment["solana"],
	swaps: readonly EndedAnyPlan[],
): Promise<void> {
	const settled = swaps.filter(({ swap }) => swap.status === "settled");
	const expected = solana.deployment.assets.map(({ symbol }) => {
		const isHere = (side: EndedAnyPlan["to"]) => isSolanaChain(side.chain) && side.token === symbol;
		const taken = settled.filter(({ from }) => isHere(from)).map(({ from }) => from.amount);
		const paid = settled.filter(({ to }) => isHere(to)).map(({ swap }) => swap.funds.amount);
		return [symbol, String(BigInt(solana.heldAtStart.vault[symbol] ?? 0) + sum(taken) - sum(paid))];
	});
	const { vault, inRecords } = await solanaHoldings(solana);
	// The rent of records comes back to the vault when they are closed.
	const held = { ...vault, SOL: String(BigInt(vault.SOL ?? 0) + inRecords) };
	expect(held).toEqual(Object.fromEntries(expected));
}

/** Blocks whose events fit into one answer, even if strangers have filled one in ten. */
const blocksAtOnce = 25n;

/** Counts the events of this name per order. */
async function countByOrder(
	chains: readonly TestChain[],
	eventName: "Opened" | "Filled",
): Promise<Map<Hex, number>> {
	const counts = new Map<Hex, number>();
	for (const { publicClient, deployment } of chains) {
		const { escrow, vault } = deployment.contracts;
		const newest = await publicClient.getBlockNumber();
		for (let fromBlock = 0n; fromBlock <= newest; fromBlock += blocksAtOnce) {
			const range = { fromBlock, toBlock: lesser(fromBlock + blocksAtOnce - 1n, newest) };
			const events =
				eventName === "Opened"
					? await publicClient.getContractEvents({ address: escrow, abi: geoEscrowAbi, eventName, ...range })
					: await publicClient.getContractEvents({ address: vault, abi: geoVaultAbi, eventName, ...range });
			for (const { args } of events) {
				if (args.orderId) counts.set(args.orderId, (counts.get(args.orderId) ?? 0) + 1);
			}
		}
	}
	return counts;
}

/** Groups swaps by wallet, chain and token. */
function byWallet(swaps: readonly EndedAnyPlan[]): Map<string, [EndedAnyPlan, ...EndedAnyPlan[]]> {
	const groups = new Map<string, [EndedAnyPlan, ...EndedAnyPlan[]]>();
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
