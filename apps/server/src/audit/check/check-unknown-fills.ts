import type { Milliseconds } from "@geoswap/protocol";
import type { AuditedChain } from "../read/audited-chain.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import type { Finding } from "../read/report.ts";
import { findUnauthorizedFills } from "./find-unauthorized-fills.ts";

/** After a fill, its deposit is final within this time. */
const finalWithinMs = 3_600_000;

/**
 * I6: nothing is delivered for an order that has neither a final deposit on a chain nor an entry in the books. The
 * service books an order before it delivers, so such a delivery was made by a third party with a relayer's key. The
 * books lose an order only by a restore, and that order's deposit may not be final yet.
 */
export function checkUnknownFills(
	chain: AuditedChain,
	{
		fills,
		restoredAtMs,
		nowMs,
	}: {
		/** Fills of orders whose terms are neither in the books nor on an audited chain. */
		fills: ChainEvents["filled"];
		/** The time at which the database was last restored from a backup. */
		restoredAtMs: Milliseconds | undefined;
		nowMs: Milliseconds;
	},
): Promise<Finding[]> {
	const isRestored = restoredAtMs !== undefined && nowMs < restoredAtMs + finalWithinMs;
	return findUnauthorizedFills(chain, {
		fills,
		how: "for an order that nobody knows",
		isForgiven: isRestored ? (atMs) => nowMs < atMs + finalWithinMs : undefined,
	});
}
