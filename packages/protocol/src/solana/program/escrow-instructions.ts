import { AccountRole, type Instruction, type TransactionSigner } from "@solana/kit";
import { getTransferSolInstruction, SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { type Hex, hexToBytes } from "viem";
import type { AttestationKind } from "../../attestation.ts";
import type { AttesterSet } from "../../attester-set.ts";
import { type Order, orderId } from "../../order.ts";
import { fromSolanaWord, type SolanaAddress, solanaNativeToken } from "../solana-address.ts";
import { tokenAccountOf } from "../transfer-instruction.ts";
import { inputAddress, orderAddress } from "./program-addresses.ts";
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

// The escrow half of the program `programs/geo-escrow`. The accounts are those of its `escrow.rs`.

/** Creates the accounts of an order. The payer gets the rent back. */
export async function prepareOrder(
	program: SolanaAddress,
	order: Order,
	payer: TransactionSigner,
): Promise<Instruction> {
	const [id, token] = [orderId(order), tokenOf(order)];
	const accounts = [
		signs(payer, AccountRole.WRITABLE_SIGNER),
		writes(await orderAddress(program, id)),
		reads(SYSTEM_PROGRAM_ADDRESS),
	];
	if (token) {
		accounts.push(writes(await inputAddress(program, id)), reads(token), reads(TOKEN_PROGRAM_ADDRESS));
	}
	return programInstruction(
		program,
		accounts,
		Uint8Array.of(instructionNumbers.prepare),
		uint64(order.destinationChainId),
		hexToBytes(order.wallet),
		hexToBytes(order.originVault),
		hexToBytes(order.destinationVault),
		hexToBytes(order.attesterSet),
		uint64(order.inputAmount),
		hexToBytes(order.outputToken),
		uint128(order.minOutput),
		hexToBytes(order.recipient),
		uint128(order.topUp),
		hexToBytes(order.swapKey).slice(16),
		...deadlineBytes(order),
	);
}

/**
 * Transfers an order's input from its wallet, by the Token or the System program. The wallet signs nothing else. The
 * decimals are for the wallet's screen; the Token program refuses wrong ones.
 */
export async function fundOrder(
	program: SolanaAddress,
	order: Order,
	{
		wallet,
		decimals,
		amount = order.inputAmount,
	}: { wallet: TransactionSigner; decimals: number; amount?: bigint },
): Promise<Instruction> {
	const [id, token] = [orderId(order), tokenOf(order)];
	if (!token) {
		const destination = await orderAddress(program, id);
		return getTransferSolInstruction({ source: wallet, destination, amount });
	}
	return getTransferCheckedInstruction({
		source: await tokenAccountOf({ owner: wallet.address, token }),
		mint: token,
		destination: await inputAddress(program, id),
		authority: wallet,
		amount,
		decimals,
	});
}

/** Opens an order whose input has arrived. */
export async function openOrder(program: SolanaAddress, order: Order): Promise<Instruction> {
	const id = orderId(order);
	const accounts = [writes(await orderAddress(program, id))];
	if (tokenOf(order)) accounts.push(reads(await inputAddress(program, id)));
	return programInstruction(program, accounts, Uint8Array.of(instructionNumbers.open));
}

/** Releases or refunds orders, as attesters have signed. */
export async function decideOrders(
	program: SolanaAddress,
	kind: AttestationKind,
	{
		orderIds,
		set,
		signatures,
		closed = [],
	}: {
		/** The orders in the sequence in which the attesters signed their ids. */
		orderIds: readonly Hex[];
		set: AttesterSet;
		/** In the ascending order of the signers' addresses. */
		signatures: readonly Hex[];
		/** The ids of orders whose accounts are closed, in the same sequence. */
		closed?: readonly Hex[];
	},
): Promise<Instruction> {
	const accounts = await Promise.all(orderIds.map((id) => orderAddress(program, id)));
	return programInstruction(
		program,
		accounts.map(writes),
		Uint8Array.of(instructionNumbers.decide, kind === "Release" ? 2 : 3, set.threshold, set.attesters.length),
		...set.attesters.map((attester) => hexToBytes(attester)),
		Uint8Array.of(signatures.length),
		...signatures.map((signature) => hexToBytes(signature)),
		...closed.map((id) => hexToBytes(id)),
	);
}

/** Decides a refund without attesters, either by the order's time or, within Solana, by an operator of its vault. */
export async function expireOrder(
	program: SolanaAddress,
	id: Hex,
	by?: { vault: SolanaAddress; operator: TransactionSigner },
): Promise<Instruction> {
	const accounts = [writes(await orderAddress(program, id))];
	if (by) accounts.push(reads(by.vault), signs(by.operator));
	return programInstruction(program, accounts, Uint8Array.of(instructionNumbers.expire));
}

/** Pays a decided order to its vault or its wallet. */
export function payOrder(
	program: SolanaAddress,
	order: Order,
	{ to, instead }: { to: "vault" | "wallet"; instead?: SolanaAddress | undefined },
): Promise<Instruction> {
	return payInput(program, {
		orderId: orderId(order),
		token: fromSolanaWord(order.inputToken),
		owner: fromSolanaWord(to === "vault" ? order.originVault : order.wallet),
		instead,
	});
}

/** Pays a decided order to its owner: the order's vault, or its wallet. */
export async function payInput(
	program: SolanaAddress,
	{
		orderId,
		token,
		owner,
		instead,
	}: {
		orderId: Hex;
		/** The mint; the native token's id for SOL. */
		token: SolanaAddress;
		owner: SolanaAddress;
		/** Another token account of an owner that gave its associated one away. */
		instead?: SolanaAddress | undefined;
	},
): Promise<Instruction> {
	const accounts = [writes(await orderAddress(program, orderId))];
	if (token === solanaNativeToken) accounts.push(writes(owner));
	else {
		const usual = await tokenAccountOf({ owner, token });
		accounts.push(writes(instead ?? usual), writes(await inputAddress(program, orderId)));
		accounts.push(reads(TOKEN_PROGRAM_ADDRESS));
		if (instead) accounts.push(reads(usual));
	}
	return programInstruction(program, accounts, Uint8Array.of(instructionNumbers.pay));
}

/** Returns the rent of an order that was paid to the account that paid it, once the order can no longer be opened. */
export async function closeOrder(
	program: SolanaAddress,
	id: Hex,
	payer: SolanaAddress,
): Promise<Instruction> {
	const accounts = [writes(await orderAddress(program, id)), writes(payer)];
	return programInstruction(program, accounts, Uint8Array.of(instructionNumbers.close));
}

/** Returns the mint of an order's input; undefined if the input is SOL. */
function tokenOf({ inputToken }: Order): SolanaAddress | undefined {
	const token = fromSolanaWord(inputToken);
	return token === solanaNativeToken ? undefined : token;
}
