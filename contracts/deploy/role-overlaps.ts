import type { Address } from "viem";

/**
 * Describes each member with two roles that must be separate. One stolen key must not be enough, because the admin's
 * could undo every limit, the operators' and the treasurers' are online all day, and the attesters' decide what the
 * operators did.
 */
export function roleOverlaps({
	roles: { admin, secondAdmin, operators, guardians, treasuries, treasurers, configurers, resumers },
	attesterSet: { attesters },
}: {
	roles: Record<
		"operators" | "guardians" | "treasuries" | "treasurers" | "configurers" | "resumers",
		Address[]
	> & {
		admin: Address;
		secondAdmin?: Address;
	};
	attesterSet: { attesters: readonly Address[] };
}): string[] {
	const admins = secondAdmin ? [admin, secondAdmin] : [admin];
	return [
		...overlap("an admin", admins, "an operator", operators),
		...overlap("an admin", admins, "a guardian", guardians),
		...overlap("an admin", admins, "a treasury", treasuries),
		...overlap("an admin", admins, "a treasurer", treasurers),
		...overlap("an admin", admins, "an attester", attesters),
		...overlap("a treasury", treasuries, "an operator", operators),
		...overlap("a treasury", treasuries, "a treasurer", treasurers),
		...overlap("a treasurer", treasurers, "an operator", operators),
		...overlap("a treasurer", treasurers, "a guardian", guardians),
		...overlap("a configurer", configurers, "an operator", operators),
		...overlap("a configurer", configurers, "a treasurer", treasurers),
		...overlap("a resumer", resumers, "an operator", operators),
		...overlap("a resumer", resumers, "a treasurer", treasurers),
		...overlap("an attester", attesters, "an operator", operators),
		...overlap("an attester", attesters, "a treasurer", treasurers),
		...overlap("an attester", attesters, "a configurer", configurers),
	];
}

function overlap(one: string, ones: readonly Address[], other: string, others: readonly Address[]): string[] {
	return ones
		.filter((address) => others.includes(address))
		.map((address) => `${address} is ${one} and ${other}: use a separate key for each`);
}
