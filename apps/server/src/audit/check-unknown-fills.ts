import type { AuditedChain } from "./audited-chain.ts";
import { CouldNotCheckError } from "./could-not-check-error.ts";
import type { OrderHistory } from "./order-history.ts";
import type { Finding } from "./report.ts";

/** By then a deposit is final, or the order is in the books. */
const graceSeconds = 3_600;

/** I6: nothing is delivered for an order that no chain has a final deposit of and no book an entry. */
export async function checkUnknownFills(
	chains: readonly AuditedChain[],
	{
		histories,
		nowMs,
	}: {
		/** Of orders whose terms nobody knows. */
		histories: readonly OrderHistory[];
		nowMs: number;
	},
): Promise<Finding[]> {
	const findings = histories.flatMap(({ orderId, filled }) =>
		filled.map(async ({ chainId, block, delivered }): Promise<Finding[]> => {
			const chain = chains.find((candidate) => candidate.chainId === chainId);
			// On Solana an order that nobody knows is found by its marker.
			if (!chain) return [];
			const asking = chain.client.getBlock({ blockNumber: BigInt(block) });
			const { timestamp } = await CouldNotCheckError.unless(`chain ${chainId}`, asking);
			if (nowMs / 1_000 < Number(timestamp) + graceSeconds) return [];
			const message = `${delivered} was delivered in block ${block} for an order that nobody knows`;
			return [{ invariant: "I6", message, chainIds: [chainId], orderId, amount: String(delivered) }];
		}),
	);
	return (await Promise.all(findings)).flat();
}
