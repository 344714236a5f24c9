import type { Milliseconds } from "@geoswap/protocol";
import type { AuditedChain } from "../read/audited-chain.ts";
import { inTurns } from "../read/in-turns.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import { type Finding, nextAfterTheft } from "../read/report.ts";

/** Within this time after a fill its deposit is final. */
const finalWithinMs = 3_600_000;

/**
 * I6: nothing is delivered for an order that has neither a final deposit on a chain nor an entry in the books. The
 * service books an order before it delivers, so such a delivery was made by somebody else with a relayer's key. Only a
 * restore makes the books forget an order, whose deposit may not be final yet.
 */
export async function checkUnknownFills(
	{ chainId, client }: AuditedChain,
	{
		fills,
		restoredAtMs,
		nowMs,
	}: {
		/** Fills of orders whose terms nobody knows. On Solana such an order is found by its marker. */
		fills: ChainEvents["filled"];
		/** The time at which the database was last restored from a backup. */
		restoredAtMs: Milliseconds | undefined;
		nowMs: Milliseconds;
	},
): Promise<Finding[]> {
	const isRestored = restoredAtMs !== undefined && nowMs < restoredAtMs + finalWithinMs;
	const findings = await inTurns(fills, async ({ orderId, block, delivered }): Promise<Finding[]> => {
		if (isRestored) {
			const { timestamp } = await client.getBlock({ blockNumber: BigInt(block) });
			if (nowMs < Number(timestamp) * 1_000 + finalWithinMs) return [];
		}
		const message = `${delivered} was delivered in block ${block} for an order that nobody knows`;
		const amount = String(delivered);
		return [{ invariant: "I6", message, chainIds: [chainId], orderId, amount, next: nextAfterTheft }];
	});
	return findings.flat();
}
