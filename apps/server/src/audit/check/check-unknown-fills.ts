import type { Milliseconds } from "@geoswap/protocol";
import type { AuditedChain } from "../read/audited-chain.ts";
import { inTurns } from "../read/in-turns.ts";
import type { OrderHistory } from "../read/order-history.ts";
import type { Finding } from "../read/report.ts";

/** Seconds after a fill by which its deposit is final, or the order is in the books. */
const graceSeconds = 3_600;

/** I6: nothing is delivered for an order that has neither a final deposit on a chain nor an entry in the books. */
export async function checkUnknownFills(
	{ chainId, client }: AuditedChain,
	{
		histories,
		nowMs,
	}: {
		/** Histories of orders whose terms nobody knows. On Solana such an order is found by its marker. */
		histories: readonly OrderHistory[];
		nowMs: Milliseconds;
	},
): Promise<Finding[]> {
	const fills = histories.flatMap(({ orderId, filled }) =>
		filled.filter((fill) => fill.chainId === chainId).map((fill) => ({ ...fill, orderId })),
	);
	const findings = await inTurns(fills, async ({ orderId, block, delivered }): Promise<Finding[]> => {
		const { timestamp } = await client.getBlock({ blockNumber: BigInt(block) });
		if (nowMs / 1_000 < Number(timestamp) + graceSeconds) return [];
		const message = `${delivered} was delivered in block ${block} for an order that nobody knows`;
		return [{ invariant: "I6", message, chainIds: [chainId], orderId, amount: String(delivered) }];
	});
	return findings.flat();
}
