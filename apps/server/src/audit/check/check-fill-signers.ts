import type { Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AuditedChain } from "../read/audited-chain.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import type { Finding } from "../read/report.ts";
import { findUnauthorizedFills } from "./find-unauthorized-fills.ts";

/** After this time none of the transactions can land that a restored database has forgotten: their orders are over. */
const forgottenForMs = 3_600_000;

/**
 * I6: every delivery was made by a transaction that the service signed. A lane writes a transaction down before it
 * sends it, so one that is not in the books was made by somebody else with a relayer's key. The order may be well
 * known: a thief can open it with a small deposit and deliver much for it. Only a restore makes the books forget a
 * transaction.
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
