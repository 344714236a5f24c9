import type { Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AuditedChain } from "../read/audited-chain.ts";
import { inTurns } from "../read/in-turns.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import { type Finding, nextAfterTheft } from "../read/report.ts";

/** After this time none of the transactions can land that a restored database has forgotten: their orders are over. */
const forgottenForMs = 3_600_000;

/**
 * I6: every delivery was made by a transaction that the service signed. A lane writes a transaction down before it sends
 * it, so one that is not in the books was made by somebody else with a relayer's key. The order may be well known: a
 * thief can open it with a small deposit and deliver much for it. Only a restore makes the books forget a transaction.
 */
export async function checkFillSigners(
	{ chainId, client }: AuditedChain,
	{
		fills,
		signed,
		restoredAtMs,
	}: {
		fills: ChainEvents["filled"];
		/** Those of the fills' transactions that are in the books. */
		signed: ReadonlySet<Hex>;
		/** The time at which the database was last restored from a backup. */
		restoredAtMs: Milliseconds | undefined;
	},
): Promise<Finding[]> {
	const foreign = fills.filter(({ transaction }) => transaction && !signed.has(transaction));
	const findings = await inTurns(foreign, async ({ orderId, block, delivered }): Promise<Finding[]> => {
		if (restoredAtMs !== undefined) {
			const { timestamp } = await client.getBlock({ blockNumber: BigInt(block) });
			if (Number(timestamp) * 1_000 < restoredAtMs + forgottenForMs) return [];
		}
		const message = `${delivered} was delivered in block ${block} by a transaction that the service did not sign`;
		const amount = String(delivered);
		return [{ invariant: "I6", message, chainIds: [chainId], orderId, amount, next: nextAfterTheft }];
	});
	return findings.flat();
}
