import type { Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AuditedChain } from "../read/audited-chain.ts";
import { mapConcurrently } from "../read/map-concurrently.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import type { Finding } from "../read/report.ts";

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
		how: "for an order that the service does not have",
		isForgiven: isRestored ? (atMs) => nowMs < atMs + finalWithinMs : undefined,
	});
}

const next = "a relayer's key was used outside of the service; pause the vault and revoke the key's role";

/** Returns an I6 finding for each of these deliveries, which only a third party with a relayer's key can have made. */
async function findUnauthorizedFills(
	{ chainId, client }: AuditedChain,
	{
		fills,
		how,
		isForgiven,
	}: {
		fills: ChainEvents["filled"];
		/** The end of the message's sentence. */
		how: string;
		/** Returns true if a restored database may have lost deliveries of this time. */
		isForgiven: ((atMs: Milliseconds) => boolean) | undefined;
	},
): Promise<Finding[]> {
	const findings = await mapConcurrently(fills, async ({ orderId, block, delivered }): Promise<Finding[]> => {
		if (isForgiven) {
			const { timestamp } = await client.getBlock({ blockNumber: BigInt(block) });
			if (isForgiven(Number(timestamp) * 1_000)) return [];
		}
		const message = `${delivered} was delivered in block ${block} ${how}`;
		return [{ invariant: "I6", message, chainIds: [chainId], orderId, amount: String(delivered), next }];
	});
	return findings.flat();
}
