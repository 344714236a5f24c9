import { bytesToHex, type Hex, hexToBytes } from "viem";

const signatureBytes = 64;

/**
 * A Solana transaction that can be looked at and not sent: what is not written down yet must leave this process in no
 * form that could land.
 */
export function withoutSignatures(raw: Hex): Hex {
	const bytes = hexToBytes(raw);
	// Fewer than 128 of them, so their number is one byte.
	const [count = 0] = bytes;
	return bytesToHex(bytes.fill(0, 1, 1 + count * signatureBytes));
}
