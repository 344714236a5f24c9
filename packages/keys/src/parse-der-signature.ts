/** Parses an ECDSA signature in DER, a sequence of two integers. Throws if the bytes are anything else. */
export function parseDerSignature(bytes: Uint8Array): { r: bigint; s: bigint } {
	let at = 0;
	const take = (tag: number): number => {
		const [found, length] = [bytes[at], bytes[at + 1]];
		at += 2;
		// A signature on a curve of 256 bits is shorter than 128 bytes, so each length is one byte.
		if (found !== tag || length === undefined || length > 127 || at + length > bytes.length) {
			throw new RangeError("not a signature in DER");
		}
		return length;
	};
	const takeInteger = (): bigint => {
		const length = take(0x02);
		if (length === 0 || length > 33) throw new RangeError("not a signature in DER");
		const digits = Buffer.from(bytes.subarray(at, at + length)).toString("hex");
		at += length;
		return BigInt(`0x${digits}`);
	};
	const length = take(0x30);
	if (length !== bytes.length - 2) throw new RangeError("not a signature in DER");
	const signature = { r: takeInteger(), s: takeInteger() };
	if (at !== bytes.length) throw new RangeError("not a signature in DER");
	return signature;
}
