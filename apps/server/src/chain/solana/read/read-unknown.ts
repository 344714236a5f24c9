import type { Hex } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";
import { readLanded } from "./read-landed.ts";
import { askStatuses } from "./read-statuses.ts";

/** Number of blocks for which a transaction can land. */
const blocksToLand = 150;
/** More slots per block than there ever are, because some slots have no block. */
const slotsPerBlock = 2;

/** Transactions that are fetched concurrently. */
const fetchesAtOnce = 16;

export type SoughtTransaction = {
	hash: Hex;
	/** The slot in which it was observed. */
	slot?: number | undefined;
	/** The last height at which it could land, which is past; set if it was not observed. */
	lastValidHeight?: number | undefined;
};

/**
 * Returns the transactions that are in no block up to the slot. A node that does not have a transaction may be behind,
 * or have pruned it. So a node is trusted only if it is at the slot, has the transaction at no commitment, and still
 * has the blocks that the transaction could be in. Nothing is known about the transactions that are not returned.
 */
export async function readUnknown(
	chain: SolanaChain,
	transactions: readonly SoughtTransaction[],
	asOf: { slot: number; height: number },
): Promise<Set<Hex>> {
	const unknown = new Set<Hex>();
	if (transactions.length === 0) return unknown;
	const answers = await askStatuses(
		chain,
		transactions.map(({ hash }) => hash),
	);
	const firstSlot = Number(await requestChain(chain.chainId, chain.rpc.getFirstAvailableBlock().send()));
	const silent = transactions.filter((transaction, i) => {
		const answer = answers[i];
		const isWhole = firstSlot <= Math.max(0, earliestSlot(transaction, asOf));
		return answer && answer.asOf >= asOf.slot && answer.slot === undefined && isWhole;
	});
	// Both sources are queried, because nodes keep statuses and transactions apart.
	for (let i = 0; i < silent.length; i += fetchesAtOnce) {
		await Promise.all(
			silent.slice(i, i + fetchesAtOnce).map(async ({ hash }) => {
				if (!(await readLanded(chain, hash))) unknown.add(hash);
			}),
		);
	}
	return unknown;
}

/** Returns a slot before which a transaction cannot have landed. */
export function earliestSlot(
	{ slot, lastValidHeight = 0 }: Pick<SoughtTransaction, "slot" | "lastValidHeight">,
	asOf: { slot: number; height: number },
): number {
	return slot ?? asOf.slot - slotsPerBlock * (asOf.height - lastValidHeight + blocksToLand);
}
