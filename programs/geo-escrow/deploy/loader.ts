import { programDataAddress, programLoader, type SolanaAddress } from "@geoswap/protocol";
import { AccountRole, type Address, type Instruction, type TransactionSigner } from "@solana/kit";
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { concatBytes, numberToBytes } from "viem";

// Instructions of Solana's upgradeable loader. The package with a client of it, `@solana-program/loader-v3`, requires
// an older version of `@solana/kit` than this one.

const rentSysvar = "SysvarRent111111111111111111111111111111111" as SolanaAddress;
const clockSysvar = "SysvarC1ock11111111111111111111111111111111" as SolanaAddress;

/** The bytes before the code in a buffer, and the size of a program's own account. */
export const bufferHeader = 37;
export const programSize = 36;

type Meta = { address: Address; role: AccountRole; signer?: TransactionSigner };

const writes = (address: Address): Meta => ({ address, role: AccountRole.WRITABLE });
const reads = (address: Address): Meta => ({ address, role: AccountRole.READONLY });
const signs = (signer: TransactionSigner): Meta => ({
	address: signer.address,
	role: AccountRole.READONLY_SIGNER,
	signer,
});
const pays = (signer: TransactionSigner): Meta => ({ ...signs(signer), role: AccountRole.WRITABLE_SIGNER });

function call(number: number, accounts: Meta[], ...data: Uint8Array[]): Instruction {
	return { programAddress: programLoader, accounts, data: concatBytes([littleEndian(number, 4), ...data]) };
}

function littleEndian(value: number, size: number): Uint8Array {
	return numberToBytes(value, { size }).reverse();
}

export function initializeBuffer(buffer: SolanaAddress, authority: SolanaAddress): Instruction {
	return call(0, [writes(buffer), reads(authority)]);
}

export function writeBuffer(
	buffer: SolanaAddress,
	authority: TransactionSigner,
	{ offset, bytes }: { offset: number; bytes: Uint8Array },
): Instruction {
	const data = [littleEndian(offset, 4), littleEndian(bytes.length, 8), bytes];
	return call(1, [writes(buffer), signs(authority)], ...data);
}

/** Makes a program of a buffer. The program's own account must have been created before, in the same transaction. */
export async function deployBuffer({
	buffer,
	program,
	authority,
	codeBytes,
}: {
	buffer: SolanaAddress;
	program: SolanaAddress;
	authority: TransactionSigner;
	codeBytes: number;
}): Promise<Instruction> {
	const accounts = [pays(authority), writes(await programDataAddress(program)), writes(program)];
	const others = [reads(rentSysvar), reads(clockSysvar), reads(SYSTEM_PROGRAM_ADDRESS), signs(authority)];
	return call(2, [...accounts, writes(buffer), ...others], littleEndian(codeBytes, 8));
}

/** Replaces a program's code with a buffer's. The buffer's lamports are returned to the authority. */
export async function upgradeProgram({
	buffer,
	program,
	authority,
}: {
	buffer: SolanaAddress;
	program: SolanaAddress;
	authority: TransactionSigner;
}): Promise<Instruction> {
	const accounts = [writes(await programDataAddress(program)), writes(program), writes(buffer)];
	const others = [writes(authority.address), reads(rentSysvar), reads(clockSysvar), signs(authority)];
	return call(3, [...accounts, ...others]);
}

/** Hands the right to replace a program to another key, or ends it permanently. */
export async function setUpgradeAuthority(
	program: SolanaAddress,
	authority: TransactionSigner,
	next: SolanaAddress | null,
): Promise<Instruction> {
	const accounts = [writes(await programDataAddress(program)), signs(authority)];
	return call(4, next === null ? accounts : [...accounts, reads(next)]);
}
