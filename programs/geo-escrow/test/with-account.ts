import { AccountRole, type Address, type Instruction } from "@solana/kit";

/** Returns the instruction with another account, which does not sign, at one index. */
export function withAccount(instruction: Instruction, i: number, address: Address): Instruction {
	const accounts = [...(instruction.accounts ?? [])];
	const role = accounts[i]?.role ?? AccountRole.READONLY;
	const isWritable = role === AccountRole.WRITABLE || role === AccountRole.WRITABLE_SIGNER;
	accounts[i] = { address, role: isWritable ? AccountRole.WRITABLE : AccountRole.READONLY };
	return { ...instruction, accounts };
}
