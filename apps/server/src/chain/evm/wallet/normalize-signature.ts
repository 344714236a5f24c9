import { isLowS } from "@geoswap/keys/signature/is-low-s";
import { SwapError } from "@geoswap/protocol";
import { type Address, concat, type Hex, numberToHex, slice } from "viem";

const parityBit = 1n << 255n;

/**
 * Returns a signature in the one form that contracts accept: 65 bytes, low s, v 27 or 28. The text may hold 65 bytes
 * with v 27, 28, 0 or 1, or 64 bytes (EIP-2098); `0x` is optional.
 */
export function normalizeSignature(
	text: string,
	{ wallet, path = "signature" }: { wallet: Address /** The field, for the error. */; path?: string },
): Hex {
	const digits = /^(?:0x)?((?:[0-9a-f]{2}){64,65})$/i.exec(text)?.[1];
	if (digits === undefined) throw malformed(path, "must be 65 or 64 bytes of hex");
	const bytes: Hex = `0x${digits.toLowerCase()}`;
	const r = slice(bytes, 0, 32);
	const { s, yParity } = digits.length === 128 ? compactHalf(bytes) : fullHalf(bytes, path);
	if (!isLowS(s)) {
		throw new SwapError(
			"INVALID_SIGNATURE",
			{ expected: wallet },
			{ message: "The signature's s is in the upper half, which contracts refuse. Sign again with a low s." },
		);
	}
	return concat([r, s, numberToHex(27 + yParity, { size: 1 })]);
}

function compactHalf(bytes: Hex): { s: Hex; yParity: number } {
	const word = BigInt(slice(bytes, 32));
	const isOdd = word >= parityBit;
	return { s: numberToHex(isOdd ? word - parityBit : word, { size: 32 }), yParity: isOdd ? 1 : 0 };
}

function fullHalf(bytes: Hex, path: string): { s: Hex; yParity: number } {
	const v = Number(slice(bytes, 64));
	if (![0, 1, 27, 28].includes(v)) throw malformed(path, "must end in v 27, 28, 0 or 1");
	return { s: slice(bytes, 32, 64), yParity: v % 27 };
}

function malformed(path: string, message: string): SwapError {
	return new SwapError("INVALID_REQUEST", { issues: [{ path, message }] });
}
