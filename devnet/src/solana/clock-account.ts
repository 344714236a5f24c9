import { type Address, type EncodedAccount, lamports } from "@solana/kit";

/** The account in which programs and clients read the time. */
export const clockAddress = "SysvarC1ock11111111111111111111111111111111" as Address;

const clockRentLamports = 1_169_280n;

/** Returns the clock's account as of a block. The machine itself has the newest block's time only. */
export function clockAccount({ slot, unixSeconds }: { slot: number; unixSeconds: number }): EncodedAccount {
	// The slot, three numbers of epochs that stay zero here, and the time.
	const data = new Uint8Array(40);
	const view = new DataView(data.buffer);
	view.setBigUint64(0, BigInt(slot), true);
	view.setBigInt64(32, BigInt(unixSeconds), true);
	return {
		address: clockAddress,
		programAddress: "Sysvar1111111111111111111111111111111111111" as Address,
		lamports: lamports(clockRentLamports),
		data,
		space: BigInt(data.length),
		executable: false,
	};
}
