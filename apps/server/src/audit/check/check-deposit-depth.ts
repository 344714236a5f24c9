import type { Milliseconds, UsdCents } from "@geoswap/protocol";
import type { AuditedPolicy } from "../read/audited-chain.ts";
import { type AuditedSwap, crossCheckKey } from "../read/read-books.ts";
import type { Finding } from "../read/report.ts";

/**
 * I6: each delivery was decided on a deposit that was deep enough for its value and, if its value requires it,
 * confirmed by a second provider. Uses the configuration at the time of the decision, and also the current one if that
 * is known to have applied then.
 */
export function checkDepositDepth(
	{ id, orderId, order, valueUsdCents, decisions }: AuditedSwap,
	{
		policy,
		crossChecks,
		policySinceMs,
	}: { policy: AuditedPolicy; crossChecks: ReadonlySet<string>; policySinceMs: Milliseconds | undefined },
): Finding[] {
	return decisions.flatMap((decidedOn) => {
		const { blockNumber, headNumber, finalizedNumber, blocksNeeded, agreeAboveUsd, atMs } = decidedOn;
		const finding = (message: string): Finding => ({
			invariant: "I6",
			message: `swap ${id} was delivered on a deposit in block ${blockNumber} ${message}`,
			chainIds: [...new Set([Number(order.originChainId), Number(order.destinationChainId)])],
			orderId,
			swapId: id,
			usdCents: String(valueUsdCents),
		});
		const findings: Finding[] = [];
		const isFinal = blockNumber <= finalizedNumber;
		const isDeep = (blocks: number | undefined) =>
			isFinal || (blocks !== undefined && headNumber - blockNumber >= blocks);
		const isOfNow = policySinceMs !== undefined && atMs >= policySinceMs && policy.depths !== undefined;
		if (!isDeep(blocksNeeded) || (isOfNow && !isDeep(depthFor(policy, valueUsdCents)))) {
			findings.push(finding(`when its chain was at ${headNumber}, and final up to ${finalizedNumber}`));
		}
		const needsAgreement =
			agreeAboveUsd !== undefined && valueUsdCents > BigInt(Math.floor(agreeAboveUsd * 100));
		if (needsAgreement && !crossChecks.has(crossCheckKey({ orderId, blockNumber }))) {
			findings.push(finding("that no second provider was found to have"));
		}
		return findings;
	});
}

/** Returns undefined if a deposit of that value must be final. */
function depthFor({ depths = [] }: AuditedPolicy, valueUsdCents: UsdCents): number | undefined {
	const enough = depths.filter(({ upToUsd }) => valueUsdCents <= BigInt(Math.floor(upToUsd * 100)));
	const [least] = enough.toSorted((a, b) => a.upToUsd - b.upToUsd);
	return least?.blocks;
}
