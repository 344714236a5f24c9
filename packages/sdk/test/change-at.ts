import { getAddressDecoder, isAddress } from "@solana/kit";
import { keccak256, toHex } from "viem";

/** Returns the path to each value that is no object, as in `quote.warnings.0.code`. */
export function leafPaths(value: object): string[] {
	return Object.entries(value).flatMap(([key, child]) =>
		typeof child === "object" && child !== null ? leafPaths(child).map((path) => `${key}.${path}`) : [key],
	);
}

export function setAt<T extends object>(root: T, path: string, value: unknown): T {
	const keys = path.split(".");
	const last = keys.pop() ?? "";
	const parent = keys.reduce(
		(object, key) => object[key] as Record<string, unknown>,
		root as Record<string, unknown>,
	);
	parent[last] = value;
	return root;
}

/** Sets another value of the same kind, so that only its meaning is wrong, never its form. */
export function changeAt<T extends object>(root: T, path: string, seed: number): T {
	const value = path
		.split(".")
		.reduce<unknown>((object, key) => (object as Record<string, unknown>)[key], root);
	return setAt(root, path, otherThan(value, seed));
}

function otherThan(value: unknown, seed: number): unknown {
	if (typeof value === "number") return value + (seed % 2 === 0 ? 1 + seed : -1 - seed);
	const text = String(value);
	if (/^\d+$/.test(text)) {
		const change = BigInt(1 + seed);
		return String(seed % 2 === 1 && BigInt(text) >= change ? BigInt(text) - change : BigInt(text) + change);
	}
	// The result is a valid account, but not the right one.
	if (isAddress(text)) return getAddressDecoder().decode(keccak256(toHex(`${text}${seed}`), "bytes"));
	if (!/^0x/.test(text))
		return `${text.slice(0, seed % text.length)}~${text.slice((seed % text.length) + 1)}`;
	if (text === "0x") return "0x00";
	const i = 2 + (seed % (text.length - 2));
	const digit = ((Number.parseInt(text.charAt(i), 16) + 1 + (seed % 15)) % 16).toString(16);
	return `${text.slice(0, i)}${digit}${text.slice(i + 1)}`;
}
