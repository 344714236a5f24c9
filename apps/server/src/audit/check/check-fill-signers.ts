import type { Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AuditedChain } from "../read/audited-chain.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import type { Finding } from "../read/report.ts";
import { findUnauthorizedFills } from "./find-unauthorized-fills.ts";

/** After this time, no transaction that a restored database has lost can land any more, because its order is over. */
const forgottenForMs = 3_600_000;

/**
 * I6: every delivery was made by a transaction that the service signed. A lane records a transaction before it sends
 * it, so a transaction that is not in the books was made by a third party with a relayer's key. The books may have its
 * order, because a thief can open one with a small deposit and deliver much for it. The books lose a transaction only
 * by a restore.
 */
export function checkFillSigners(
	chain: AuditedChain,
	{
		fills,
		signed,
		restoredAtMs,
	}: {
		fills: ChainEvents["filled"];
		/** The transactions of these fills that are in the books. */
		signed: ReadonlySet<Hex>;
		/** The time at which the database was last restored from a backup. */
		restoredAtMs: Milliseconds | undefined;
	},
): Promise<Finding[]> {
	return findUnauthorizedFills(chain, {
		fills: fills.filter(({ transaction }) => transaction && !signed.has(transaction)),
		how: "by a transaction that the service did not sign",
		isForgiven: restoredAtMs === undefined ? undefined : (atMs) => atMs < restoredAtMs + forgottenForMs,
	});
}
