import type { Breach, Finding } from "../audit/read/report.ts";

/** Returns the breaches that both audits found, as the second reports them. Only new ones confirm each other. */
export function foundTwice(
	first: readonly Breach[],
	second: readonly Breach[],
	isNew: (breach: Breach) => boolean,
): Breach[] {
	const before = new Set(first.filter(isNew).map(sameKey));
	return second.filter((breach) => isNew(breach) && before.has(sameKey(breach)));
}

/** Identifies a breach, regardless of its current amounts. */
function sameKey({ invariant, chainIds, orderId, swapId, token }: Finding): string {
	return [invariant, chainIds.join(), orderId ?? "", swapId ?? "", token ?? ""].join(" ");
}
