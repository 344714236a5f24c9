import { encodeMandate, type SignedMandate } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import type { TransactionShape } from "../fee/fee-model.ts";

/** Gas for the owner's signature, the epoch, and a slot of storage that may be new. Measured: docs/measured.md. */
const baseGas = 26_000n;
/** Gas for a byte of the mandate, which is paid for in the transaction and where it is copied, decoded and hashed. */
const gasPerByte = 20n;
const gasPerNonZeroByte = 12n;

/** Returns by how much a mandate enlarges the transaction that opens an order. Lists are padded with zeros. */
export function mandateShape(mandate: SignedMandate): TransactionShape {
	const bytes = hexToBytes(encodeMandate(mandate));
	const nonZero = bytes.filter((byte) => byte !== 0).length;
	const compressed = compressedBytes(bytes);
	return {
		gas: baseGas + gasPerByte * BigInt(bytes.length) + gasPerNonZeroByte * BigInt(nonZero),
		fastLzBytes: compressed,
		brotliBytes: compressed,
	};
}

/**
 * Returns the maximum number of bytes that a compressor leaves. A long run of zeros takes a few, and any other byte may
 * take more than one.
 */
function compressedBytes(bytes: Uint8Array): number {
	const [shortestRun, bytesOfRun] = [5, 4];
	let count = 0;
	let run = 0;
	for (const byte of [...bytes, 1]) {
		if (byte === 0) run++;
		else {
			count += (run < shortestRun ? run : bytesOfRun) + 1;
			run = 0;
		}
	}
	// A compressor adds marks to stretches that it does not compress.
	return count + Math.ceil(count / 16);
}
