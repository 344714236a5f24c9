/** The polynomial of Castagnoli, with its bits reversed. */
const polynomial = 0x82f63b78;

const table = Uint32Array.from({ length: 256 }, (_, index) => {
	let rest = index;
	for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
	return rest;
});

/** Returns the checksum with which Google's key service detects bytes that were damaged on the way. */
export function crc32c(bytes: Uint8Array): number {
	let rest = 0xffffffff;
	for (const byte of bytes) rest = (rest >>> 8) ^ (table[(rest ^ byte) & 0xff] ?? 0);
	return (rest ^ 0xffffffff) >>> 0;
}
