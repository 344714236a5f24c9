import {
	type AccountMeta,
	AccountRole,
	type Address,
	type Instruction,
	type TransactionSigner,
} from "@solana/kit";
import { concatBytes, numberToBytes } from "viem";
import { unpackDeadlines } from "../../deadlines.ts";
import type { Order } from "../../order.ts";

export type Meta = AccountMeta & { signer?: TransactionSigner };

export function reads(address: Address): Meta {
	return { address, role: AccountRole.READONLY };
}

export function writes(address: Address): Meta {
	return { address, role: AccountRole.WRITABLE };
}

export function signs(signer: TransactionSigner, role: AccountRole = AccountRole.READONLY_SIGNER): Meta {
	return { address: signer.address, role, signer };
}

/** The first byte of each instruction's data, as in the program's `lib.rs`. */
export const instructionNumbers = {
	prepare: 0,
	open: 1,
	decide: 2,
	expire: 3,
	pay: 4,
	close: 5,
	createVault: 10,
	setRoles: 11,
	acceptVault: 12,
	setCap: 13,
	pause: 14,
	withdraw: 15,
	fill: 16,
	void: 17,
	closeRecord: 18,
} as const;

export function programInstruction(
	programAddress: Address,
	accounts: readonly Meta[],
	...data: readonly Uint8Array[]
): Instruction {
	return { programAddress, accounts, data: concatBytes(data) };
}

/** Returns the bytes of a number, little-endian, as Solana's programs write numbers. */
export function uint64(value: bigint): Uint8Array {
	return numberToBytes(value, { size: 8 }).reverse();
}

/** Returns the bytes of a number, big-endian: the last half of the word that an order holds. */
export function uint128(value: bigint): Uint8Array {
	return numberToBytes(value, { size: 16 });
}

export function deadlineBytes({ deadlines }: Order): Uint8Array[] {
	const { openDeadline, fillDeadline, refundAfter } = unpackDeadlines(deadlines);
	return [openDeadline, fillDeadline, refundAfter].map(uint64);
}
