import { type AttestationKind, type Order, orderId, toSolanaWord, unpackDeadlines } from "@geoswap/protocol";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { type RecordReading, readRecords } from "../chain/solana/program/read-orders.ts";
import type { OutcomeRefusal } from "./check-outcomes.ts";

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
	return orders.map((order, i) => refusalOf(kind, order, readings[i]));
}

function refusalOf(
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
