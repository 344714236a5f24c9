import { bytesToHex, type Hex, hexToBytes } from "viem";

const signatureBytes = 64;

/**
 * Returns a Solana transaction that can be simulated but not sent, because a transaction that is not journalled yet
 * must not leave this process in a form that could land.
 */
export function stripSignatures(raw: Hex): Hex {
	const bytes = hexToBytes(raw);
	// There are fewer than 128 signatures, so their number is one byte.
	const [count = 0] = bytes;
	return bytesToHex(bytes.fill(0, 1, 1 + count * signatureBytes));
}
