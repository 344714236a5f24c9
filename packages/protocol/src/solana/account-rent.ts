/** The chain keeps this many bytes of every account beside its data. */
const bytesBesideData = 128n;
const lamportsPerByte = 6_960n;

/** Returns the lamports that an account with so many bytes of data must hold, so that the chain keeps it. */
export function accountRentLamports(bytes: number): bigint {
	return (bytesBesideData + BigInt(bytes)) * lamportsPerByte;
}

/** The size of a token account in bytes, and its rent. */
export const tokenAccountSize = 165;
export const tokenAccountRentLamports = accountRentLamports(tokenAccountSize);
/** The minimum that an account without data must hold, unless it holds nothing at all. */
export const emptyAccountRentLamports = accountRentLamports(0);
