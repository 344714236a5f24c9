import {
	type AttestationKind,
	fromWord,
	geoVaultAbi,
	type Order,
	orderId,
	toSolanaWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { EvmChain } from "../chain/evm/connect-chain.ts";
import { readBlock } from "../chain/evm/read/read-block.ts";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { type RecordReading, readRecords } from "../chain/solana/program/read-orders.ts";

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

/** Reasons why the outcome to be signed is not true on Solana, not yet, or can no longer be read. */
export type SolanaOutcomeRefusal = OutcomeRefusal | "too_late";

/** The program keeps a record for this long after `refundAfter`. */
const recordMarginSeconds = 24n * 60n * 60n;

/** Checks what the program has recorded about each order, at finality. */
export async function checkSolanaOutcomes(
	chain: SolanaChain,
	{ kind, orders }: { kind: AttestationKind; orders: readonly Order[] },
): Promise<(SolanaOutcomeRefusal | undefined)[]> {
	const orderIds = orders.map(orderId);
	const readings = await readRecords(chain, { orderIds, commitment: "finalized" });
	return orders.map((order, i) => solanaRefusalOf(kind, order, readings[i]));
}

function solanaRefusalOf(
	kind: AttestationKind,
	order: Order,
	reading: RecordReading | undefined,
): SolanaOutcomeRefusal | undefined {
	if (!reading) throw new Error("there is a reading for each order");
	const { record, unixSeconds } = reading;
	// The order's id contains its vault. This is checked again because nothing is lost by it.
	if (record && toSolanaWord(record.vault) !== order.destinationVault) return "not_filled";
	if (kind === "Release") return record?.state === "filled" ? undefined : "not_filled";
	if (record) return record.state === "voided" ? undefined : "filled";
	const { fillDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	// A record may have been closed by then. Anyone may refund the order without attesters since its `refundAfter`.
	if (unixSeconds >= refundAfter + recordMarginSeconds) return "too_late";
	// After a slot past the deadline the order cannot be filled any more.
	return unixSeconds >= fillDeadline ? undefined : "not_expired";
}
