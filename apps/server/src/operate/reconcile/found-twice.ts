import type { Breach, Finding } from "../../audit/read/report.ts";

/** What two audits found, as the second says it. What is not to be acted on confirms nothing. */
export function foundTwice(
	first: readonly Breach[],
	second: readonly Breach[],
	isNew: (breach: Breach) => boolean,
): Breach[] {
	const before = new Set(first.filter(isNew).map(sameKey));
	return second.filter((breach) => isNew(breach) && before.has(sameKey(breach)));
}

/** The same thing, whatever the amounts of the moment. */
function sameKey({ invariant, chainIds, orderId, swapId, token }: Finding): string {
	return [invariant, chainIds.join(), orderId ?? "", swapId ?? "", token ?? ""].join(" ");
}
