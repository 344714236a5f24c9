import { VerificationError } from "./verification-error.ts";

// A value from the wire may have any form. It is only compared, never trusted.

export const maxUint256 = (1n << 256n) - 1n;

/** Returns the number at a path. Throws unless it is from one to the maximum. */
export function bounded(field: string, value: unknown, most: bigint): bigint {
	const number = natural(field, value);
	if (number < 1n || number > most) refuse(field, `1 to ${most}`, number);
	return number;
}

export function natural(field: string, value: unknown): bigint {
	if (typeof value === "bigint" && value >= 0n && value <= maxUint256) return value;
	const isNatural = typeof value === "string" && /^(0|[1-9]\d{0,77})$/.test(value);
	if (!isNatural || BigInt(value) > maxUint256) return refuse(field, "a whole number of 256 bits", value);
	return BigInt(value);
}

/** Throws if a value differs from what is expected, and names its path. */
export function expectSame(expected: unknown, actual: unknown): void {
	for (const [field, value] of leaves(expected)) {
		if (!isSame(value, at(actual, field))) refuse(field, value, at(actual, field));
	}
}

/** Returns every value inside this one, with its path. */
function leaves(value: unknown, path = ""): [path: string, value: unknown][] {
	if (typeof value !== "object" || value === null) return [[path, value]];
	// The length is compared too, because an extra element would have no counterpart.
	const children: [string, unknown][] = Object.entries(value);
	if (Array.isArray(value)) children.push(["length", value.length]);
	return children.flatMap(([key, child]) => leaves(child, path === "" ? key : `${path}.${key}`));
}

/** Returns the value at a path of something that came over the wire and may have any form. */
export function at(value: unknown, path: string): unknown {
	return path
		.split(".")
		.reduce<unknown>((parent, key) => (parent as Record<string, unknown> | null | undefined)?.[key], value);
}

/** Compares values as written, except for the case of hex, which is only a matter of spelling. */
export function isSame(expected: unknown, actual: unknown): boolean {
	if (typeof expected === "bigint") return String(expected) === actual;
	if (typeof expected !== "string" || typeof actual !== "string") return expected === actual;
	const isHex = expected.startsWith("0x") && actual.startsWith("0x");
	return isHex ? expected.toLowerCase() === actual.toLowerCase() : expected === actual;
}

export function refuse(field: string, expected: unknown, actual: unknown): never {
	throw new VerificationError({ field, expected, actual });
}
