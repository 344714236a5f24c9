import { VerificationError } from "./verification-error.ts";

// What came over the wire may have any form: it is compared, never trusted.

const maxUint256 = (1n << 256n) - 1n;

/** A number at a path, from one to the most that is accepted. */
export function bounded(field: string, value: unknown, most: bigint): bigint {
	const number = natural(field, value);
	if (number < 1n || number > most) refuse(field, `1 to ${most}`, number);
	return number;
}

export function natural(field: string, value: unknown): bigint {
	const isNatural = typeof value === "string" && /^(0|[1-9]\d{0,77})$/.test(value);
	if (!isNatural || BigInt(value) > maxUint256) return refuse(field, "a whole number of 256 bits", value);
	return BigInt(value);
}

/** Refuses whatever differs from what is expected, by its path. */
export function expectSame(expected: unknown, actual: unknown): void {
	for (const [field, value] of leaves(expected)) {
		if (!isSame(value, at(actual, field))) refuse(field, value, at(actual, field));
	}
}

/** Every value in it, with the path to it. */
function leaves(value: unknown, path = ""): [path: string, value: unknown][] {
	if (typeof value !== "object" || value === null) return [[path, value]];
	// An element too many would have no counterpart.
	const children: [string, unknown][] = Object.entries(value);
	if (Array.isArray(value)) children.push(["length", value.length]);
	return children.flatMap(([key, child]) => leaves(child, path === "" ? key : `${path}.${key}`));
}

/** The value at a path of something that came over the wire, and may have any form. */
export function at(value: unknown, path: string): unknown {
	return path
		.split(".")
		.reduce<unknown>((parent, key) => (parent as Record<string, unknown> | null | undefined)?.[key], value);
}

/** As written, but for the case of hex: a checksum is a matter of spelling. */
export function isSame(expected: unknown, actual: unknown): boolean {
	if (typeof expected === "bigint") return String(expected) === actual;
	if (typeof expected !== "string" || typeof actual !== "string") return expected === actual;
	const isHex = expected.startsWith("0x") && actual.startsWith("0x");
	return isHex ? expected.toLowerCase() === actual.toLowerCase() : expected === actual;
}

export function refuse(field: string, expected: unknown, actual: unknown): never {
	throw new VerificationError({ field, expected, actual });
}
