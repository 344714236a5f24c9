import { AccountRole, getAddressEncoder, type Instruction, type TransactionSigner } from "@solana/kit";
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { type Hex, hexToBytes } from "viem";
import { isSolana } from "../../chain-address.ts";
import { type Order, orderId } from "../../order.ts";
import { fromSolanaWord, type SolanaAddress, solanaNativeToken } from "../solana-address.ts";
import { tokenAccountOf } from "../transfer-instruction.ts";
import { orderAddress, recordAddress, vaultAddress } from "./program-addresses.ts";
import {
	deadlineBytes,
	instructionNumbers,
	programInstruction,
	reads,
	signs,
	uint64,
	uint128,
	writes,
} from "./program-instruction.ts";

// The vault half of the program `programs/geo-escrow`. The accounts are those of its `vault.rs`.

/** The number of operators that a vault can have. */
export const maxVaultOperators = 4;

export async function createVault(
	program: SolanaAddress,
	{ payer, owner, index = 0 }: { payer: TransactionSigner; owner: TransactionSigner; index?: number },
): Promise<Instruction> {
	const vault = await vaultAddress(program, owner.address, index);
	const accounts = [signs(payer, AccountRole.WRITABLE_SIGNER), signs(owner), writes(vault)];
	return programInstruction(
		program,
		[...accounts, reads(SYSTEM_PROGRAM_ADDRESS)],
		Uint8Array.of(instructionNumbers.createVault, index),
	);
}

/** A vault, and its owner, who signs for it. */
export type OwnedVault = { program: SolanaAddress; vault: SolanaAddress; owner: TransactionSigner };

/** Sets all roles of a vault but its owner's. A role that is not given is left empty. */
export function setVaultRoles(
	owned: OwnedVault,
	{
		guardian = solanaNativeToken,
		pendingOwner = solanaNativeToken,
		operators,
	}: { guardian?: SolanaAddress; pendingOwner?: SolanaAddress; operators: readonly SolanaAddress[] },
): Instruction {
	if (operators.length > maxVaultOperators)
		throw new RangeError(`a vault has at most ${maxVaultOperators} operators`);
	const places = Array.from({ length: maxVaultOperators }, (_, i) => operators[i] ?? solanaNativeToken);
	return byOwner(
		owned,
		Uint8Array.of(instructionNumbers.setRoles),
		...[guardian, pendingOwner, ...places].map(keyOf),
	);
}

export function acceptVault(owned: OwnedVault): Instruction {
	return byOwner(owned, Uint8Array.of(instructionNumbers.acceptVault));
}

/** Sets how much of a token may leave a vault in an hour, except to its owner. */
export function setVaultCap(owned: OwnedVault, token: SolanaAddress, perHour: bigint): Instruction {
	return byOwner(owned, Uint8Array.of(instructionNumbers.setCap), keyOf(token), uint64(perHour));
}

export function pauseVault(owned: OwnedVault, isPaused: boolean): Instruction {
	return byOwner(owned, Uint8Array.of(instructionNumbers.pause, isPaused ? 1 : 0));
}

/** Withdraws from a vault: SOL, or a token from one of the vault's token accounts. */
export function withdrawFromVault(
	{ program, vault, owner }: OwnedVault,
	{ amount, to, from }: { amount: bigint; to: SolanaAddress; from?: SolanaAddress },
): Instruction {
	const accounts = [signs(owner), writes(vault), writes(to)];
	if (from) accounts.push(writes(from), reads(TOKEN_PROGRAM_ADDRESS));
	return programInstruction(program, accounts, Uint8Array.of(instructionNumbers.withdraw), uint64(amount));
}

/** Pays an order's recipient. This also releases an order that began on Solana. */
export async function fillOrder(
	program: SolanaAddress,
	order: Order,
	{
		operator,
		amount,
		instead,
	}: {
		operator: TransactionSigner;
		amount: bigint;
		/** Another token account of a recipient that gave its associated one away. */
		instead?: SolanaAddress | undefined;
	},
): Promise<Instruction> {
	const [vault, recipient] = [fromSolanaWord(order.destinationVault), fromSolanaWord(order.recipient)];
	const token = fromSolanaWord(order.outputToken);
	const isNative = token === solanaNativeToken;
	const accounts = [
		signs(operator),
		writes(vault),
		writes(await filledAddress(program, order)),
		isNative || order.topUp > 0n ? writes(recipient) : reads(recipient),
		reads(SYSTEM_PROGRAM_ADDRESS),
	];
	if (!isNative) {
		const usual = await tokenAccountOf({ owner: recipient, token });
		accounts.push(writes(await tokenAccountOf({ owner: vault, token })), writes(instead ?? usual));
		accounts.push(reads(TOKEN_PROGRAM_ADDRESS));
		if (instead) accounts.push(reads(usual));
	}
	return programInstruction(
		program,
		accounts,
		Uint8Array.of(instructionNumbers.fill),
		...originTerms(order),
		uint64(amount),
	);
}

/** Closes an order from another chain permanently, so that it can no longer be filled. */
export async function voidOrder(
	program: SolanaAddress,
	order: Order,
	operator: TransactionSigner,
): Promise<Instruction> {
	const accounts = [
		signs(operator),
		writes(fromSolanaWord(order.destinationVault)),
		writes(await filledAddress(program, order)),
		reads(fromSolanaWord(order.recipient)),
		reads(SYSTEM_PROGRAM_ADDRESS),
		reads(fromSolanaWord(order.outputToken)),
	];
	return programInstruction(program, accounts, Uint8Array.of(instructionNumbers.void), ...originTerms(order));
}

/** Returns the rent of a filled or voided order's record to its vault, once the record is no longer needed. */
export async function closeRecord(
	program: SolanaAddress,
	id: Hex,
	vault: SolanaAddress,
): Promise<Instruction> {
	const accounts = [writes(await recordAddress(program, id)), writes(vault)];
	return programInstruction(program, accounts, Uint8Array.of(instructionNumbers.closeRecord));
}

/** Returns the account that a fill changes: the order's own if it began on Solana, else its record. */
function filledAddress(program: SolanaAddress, order: Order): Promise<SolanaAddress> {
	return (isSolana(order.originChainId) ? orderAddress : recordAddress)(program, orderId(order));
}

function originTerms(order: Order): Uint8Array[] {
	return [
		uint64(order.originChainId),
		hexToBytes(order.escrow),
		hexToBytes(order.originVault),
		hexToBytes(order.attesterSet),
		hexToBytes(order.wallet),
		hexToBytes(order.inputToken),
		uint128(order.inputAmount),
		uint64(order.minOutput),
		uint64(order.topUp),
		hexToBytes(order.swapKey).slice(16),
		...deadlineBytes(order),
	];
}

function byOwner({ program, vault, owner }: OwnedVault, ...data: Uint8Array[]): Instruction {
	return programInstruction(program, [signs(owner), writes(vault)], ...data);
}

function keyOf(address: SolanaAddress): Uint8Array {
	return new Uint8Array(getAddressEncoder().encode(address));
}
