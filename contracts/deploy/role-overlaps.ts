import type { Address } from "viem";

/**
 * Describes each member with two roles that must be separate. One stolen key must not be enough: the admin's could undo
 * every limit, the operators' are online all day, the attesters' decide what the operators did.
 */
export function roleOverlaps({
	roles: { admin, operators, guardians, treasuries },
	attesterSet: { attesters },
}: {
	roles: { admin: Address; operators: Address[]; guardians: Address[]; treasuries: Address[] };
	attesterSet: { attesters: readonly Address[] };
}): string[] {
	return [
		...overlap("the admin", [admin], "an operator", operators),
		...overlap("the admin", [admin], "a guardian", guardians),
		...overlap("the admin", [admin], "a treasury", treasuries),
		...overlap("the admin", [admin], "an attester", attesters),
		...overlap("a treasury", treasuries, "an operator", operators),
		...overlap("an attester", attesters, "an operator", operators),
	];
}

function overlap(one: string, ones: readonly Address[], other: string, others: readonly Address[]): string[] {
	return ones
		.filter((address) => others.includes(address))
		.map((address) => `${address} is ${one} and ${other}: use a separate key for each`);
}
