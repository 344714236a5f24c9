import {
	type AttestationKind,
	fromWord,
	geoVaultAbi,
	type Order,
	orderId,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { EvmChain } from "../chain/evm/connect-chain.ts";
import { readBlock } from "../chain/evm/read/read-block.ts";

/** Reasons why the outcome to be signed is not true, or not yet. */
export type OutcomeRefusal = "not_filled" | "filled" | "not_expired";

/** Checks each order's state on the destination at its newest final block, with one call at that block alone. */
export async function checkOutcomes(
	destination: EvmChain,
	{ kind, orders }: { kind: AttestationKind; orders: readonly Order[] },
): Promise<(OutcomeRefusal | undefined)[]> {
	const finalized = await readBlock(destination, "finalized");
	const states = await destination.client.multicall({
		allowFailure: false,
		batchSize: 0,
		blockNumber: BigInt(finalized.number),
		contracts: orders.map((order) => ({
			address: fromWord(order.destinationVault),
			abi: geoVaultAbi,
			functionName: "orderState" as const,
			args: [orderId(order)] as const,
		})),
	});
	return orders.map((order, i) => {
		const { fillDeadline } = unpackDeadlines(order.deadlines);
		const isExpired = BigInt(finalized.timestamp) >= fillDeadline;
		return refusalOf(kind, { state: states[i] ?? vaultState.none, isExpired });
	});
}

const vaultState = { none: 0, filled: 1, voided: 2 } as const;

function refusalOf(
	kind: AttestationKind,
	{ state, isExpired }: { state: number; isExpired: boolean },
): OutcomeRefusal | undefined {
	if (kind === "Release") return state === vaultState.filled ? undefined : "not_filled";
	if (state === vaultState.filled) return "filled";
	// After a block past the deadline the order cannot be filled any more.
	return state === vaultState.voided || isExpired ? undefined : "not_expired";
}
