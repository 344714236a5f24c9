import {
	type ChainDeployment,
	type Deployment,
	isSolana,
	leavesTimeToSettle,
	type Order,
	ourContracts,
	toSolanaWord,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import { type Hex, zeroAddress } from "viem";
import { refuse } from "./refusal.ts";

/** No escrow keeps an input for longer than this, so no order can be filled later either. */
const maxOrderSeconds = 3n * 24n * 3_600n;

/** The parts of the signer's own files that define which orders are the service's. */
export type OrderRules = {
	deployment: Deployment;
	/** Hashes of all attester sets, current and retired, that the service's orders name. */
	attesterSets: ReadonlySet<Hex>;
	/** How long each chain takes to be final, by its id. */
	finalitySeconds: ReadonlyMap<number, number>;
	nowMs: () => number;
};

/**
 * Refuses an order for whose delivery the service would never be paid, because its escrow, vaults, attesters or assets
 * are not the service's. Anyone can open an order with any terms.
 */
export function expectOurOrder(
	order: Order,
	{ deployment, attesterSets, finalitySeconds, nowMs }: OrderRules,
): void {
	const origin = wordsOf(deployment, order.originChainId);
	const destination = wordsOf(deployment, order.destinationChainId);
	if (!origin || !destination) refuse("not-ours", "one of the order's chains is not ours");
	expectAmong("escrow", origin.escrows, order.escrow);
	expectAmong("origin vault", origin.vaults, order.originVault);
	expectAmong("destination vault", destination.vaults, order.destinationVault);
	expectAmong("input", origin.assets, order.inputToken);
	expectAmong("output", destination.assets, order.outputToken);
	if (!attesterSets.has(order.attesterSet.toLowerCase() as Hex))
		refuse("not-ours", "the order's attester set is not ours");
	if (order.inputAmount === 0n || order.minOutput === 0n) refuse("malformed", "an order has no amounts");
	// The native token has the same word on every chain.
	if (order.topUp !== 0n) expectAmong("top-up", destination.assets, toWord(zeroAddress));
	if (order.deadlines >> 192n !== 0n) refuse("malformed", "an order's deadlines have more bits than theirs");
	const { openDeadline, fillDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	if (openDeadline >= fillDeadline || fillDeadline >= refundAfter)
		refuse("malformed", "an order's deadlines are not in order");
	// Without this time, the wallet could have its input back before attesters can sign the release. A chain that is not
	// in the signer's file adds nothing here, and proves nothing either.
	const seconds = [order.originChainId, order.destinationChainId].map(
		(chainId) => finalitySeconds.get(Number(chainId)) ?? 0,
	);
	const bothFinal = BigInt(seconds.reduce((sum, one) => sum + one, 0));
	if (!leavesTimeToSettle({ openDeadline, fillDeadline, refundAfter }, bothFinal))
		refuse(
			"not-ours",
			`an order's deadlines are not those of a quote: between two of them are not more than ${bothFinal} s, in which both chains are final`,
		);
	// A fill that is signed now and kept for later must expire before a day's caps have been renewed many times.
	if (refundAfter > BigInt(Math.floor(nowMs() / 1_000)) + maxOrderSeconds)
		refuse("malformed", "an order lasts for longer than any escrow accepts");
}

type Words = Record<"escrows" | "vaults" | "assets", readonly Hex[]>;

function wordsOf({ chains, solana }: Deployment, chainId: bigint): Words | undefined {
	if (isSolana(chainId)) {
		if (!solana?.program) return undefined;
		const { address, vault } = solana.program;
		return {
			escrows: [toSolanaWord(address)],
			vaults: [toSolanaWord(vault)],
			assets: solana.assets.map((asset) => toSolanaWord(asset.address)),
		};
	}
	const chain: ChainDeployment | undefined = chains.find((one) => BigInt(one.chainId) === chainId);
	if (!chain) return undefined;
	const { escrows, vaults } = ourContracts(chain);
	return {
		escrows: escrows.map((address) => toWord(address)),
		vaults: vaults.map((address) => toWord(address)),
		assets: chain.assets.map(({ address }) => toWord(address)),
	};
}

function expectAmong(name: string, ours: readonly Hex[], word: Hex): void {
	if (!ours.includes(word.toLowerCase() as Hex)) refuse("not-ours", `the order's ${name} is not ours`);
}
