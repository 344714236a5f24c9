import {
	type AttesterSet,
	escrowDomain,
	type Order,
	orderId,
	solanaChainId,
	unpackDeadlines,
} from "@geoswap/protocol";
import {
	type AccountMeta,
	AccountRole,
	type Address,
	getAddressDecoder,
	getAddressEncoder,
	getProgramDerivedAddress,
	type Instruction,
	type TransactionSigner,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { findAssociatedTokenPda, getTransferInstruction, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import {
	bytesToHex,
	concatBytes,
	type Hex,
	hashTypedData,
	hexToBytes,
	numberToBytes,
	zeroAddress,
} from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";

export const systemProgram = "11111111111111111111111111111111" as Address;
const chainId = BigInt(solanaChainId);

export function addressOf(word: Hex): Address {
	return getAddressDecoder().decode(hexToBytes(word));
}

function keyOf(address: Address): Uint8Array {
	return new Uint8Array(getAddressEncoder().encode(address));
}

export function wordOf(address: Address): Hex {
	return bytesToHex(keyOf(address));
}

function number(value: bigint): Uint8Array {
	return numberToBytes(value, { size: 8 }).reverse();
}

function bigNumber(value: bigint): Uint8Array {
	return numberToBytes(value, { size: 16 });
}

async function derived(program: Address, ...seeds: (string | Uint8Array)[]): Promise<Address> {
	return (await getProgramDerivedAddress({ programAddress: program, seeds }))[0];
}

export function orderAddress(program: Address, id: Hex): Promise<Address> {
	return derived(program, "order", hexToBytes(id));
}

export function inputAddress(program: Address, id: Hex): Promise<Address> {
	return derived(program, "input", hexToBytes(id));
}

export function recordAddress(program: Address, id: Hex): Promise<Address> {
	return derived(program, "fill", hexToBytes(id));
}

export function vaultAddress(program: Address, owner: Address, index = 0): Promise<Address> {
	return derived(program, "vault", keyOf(owner), Uint8Array.of(index));
}

export async function tokenAccountOf(owner: Address, mint: Address): Promise<Address> {
	return (await findAssociatedTokenPda({ owner, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS }))[0];
}

type Meta = AccountMeta & { signer?: TransactionSigner };

export function reads(address: Address): Meta {
	return { address, role: AccountRole.READONLY };
}

export function writes(address: Address): Meta {
	return { address, role: AccountRole.WRITABLE };
}

function signs(signer: TransactionSigner, role: AccountRole = AccountRole.READONLY_SIGNER): Meta {
	return { address: signer.address, role, signer };
}

function instruction(programAddress: Address, accounts: Meta[], ...data: Uint8Array[]): Instruction {
	return { programAddress, accounts, data: concatBytes(data) };
}

function times({ deadlines }: Order): Uint8Array[] {
	const { openDeadline, fillDeadline, refundAfter } = unpackDeadlines(deadlines);
	return [number(openDeadline), number(fillDeadline), number(refundAfter)];
}

export function isNative(token: Hex): boolean {
	return BigInt(token) === 0n;
}

/** Creates the accounts of an order. */
export async function prepare(
	program: Address,
	order: Order,
	payer: TransactionSigner,
): Promise<Instruction> {
	const id = orderId(order);
	const accounts = [
		signs(payer, AccountRole.WRITABLE_SIGNER),
		writes(await orderAddress(program, id)),
		reads(systemProgram),
	];
	if (!isNative(order.inputToken)) {
		accounts.push(writes(await inputAddress(program, id)), reads(addressOf(order.inputToken)));
		accounts.push(reads(TOKEN_PROGRAM_ADDRESS));
	}
	return instruction(
		program,
		accounts,
		Uint8Array.of(0),
		number(order.destinationChainId),
		hexToBytes(order.wallet),
		hexToBytes(order.originVault),
		hexToBytes(order.destinationVault),
		hexToBytes(order.attesterSet),
		number(order.inputAmount),
		hexToBytes(order.outputToken),
		bigNumber(order.minOutput),
		hexToBytes(order.recipient),
		bigNumber(order.topUp),
		hexToBytes(order.swapKey).slice(16),
		...times(order),
	);
}

/** The wallet's own transfer of the input: an instruction of the Token or System program. */
export async function fund(
	program: Address,
	order: Order,
	wallet: TransactionSigner,
	amount = order.inputAmount,
): Promise<Instruction> {
	const id = orderId(order);
	if (isNative(order.inputToken)) {
		return getTransferSolInstruction({
			source: wallet,
			destination: await orderAddress(program, id),
			amount,
		});
	}
	const source = await tokenAccountOf(wallet.address, addressOf(order.inputToken));
	const destination = await inputAddress(program, id);
	return getTransferInstruction({ source, destination, authority: wallet, amount });
}

export async function open(program: Address, order: Order): Promise<Instruction> {
	const id = orderId(order);
	const accounts = [writes(await orderAddress(program, id))];
	if (!isNative(order.inputToken)) accounts.push(reads(await inputAddress(program, id)));
	return instruction(program, accounts, Uint8Array.of(1));
}

export type Decision = "Release" | "Refund";

const statement = [{ name: "orderIds", type: "bytes32[]" }];

/** Returns the digest that attesters sign: as on EVM chains, with the program in place of the escrow's address. */
export function attestationDigest(program: Address, kind: Decision, orderIds: readonly Hex[]): Hex {
	const { name, version } = escrowDomain({ chainId: solanaChainId, escrow: zeroAddress });
	return hashTypedData({
		domain: { name, version, chainId, salt: wordOf(program) },
		types: { Release: statement, Refund: statement },
		primaryType: kind,
		message: { orderIds },
	});
}

/** Signs as these attesters, in the ascending order of their addresses. */
export function signAll(hash: Hex, privateKeys: readonly Hex[]): Promise<Uint8Array[]> {
	const addresses = new Map(privateKeys.map((key) => [key, BigInt(privateKeyToAccount(key).address)]));
	const ascending = privateKeys.toSorted((a, b) =>
		(addresses.get(a) ?? 0n) < (addresses.get(b) ?? 0n) ? -1 : 1,
	);
	return Promise.all(
		ascending.map(async (privateKey) => hexToBytes(await sign({ hash, privateKey, to: "hex" }))),
	);
}

export async function decide(
	program: Address,
	kind: Decision,
	{
		orderIds,
		set,
		signatures,
		closed = [],
	}: { orderIds: readonly Hex[]; set: AttesterSet; signatures: Uint8Array[]; closed?: readonly Hex[] },
): Promise<Instruction> {
	return instruction(
		program,
		(await Promise.all(orderIds.map((id) => orderAddress(program, id)))).map(writes),
		Uint8Array.of(2, kind === "Release" ? 2 : 3, set.threshold, set.attesters.length),
		...set.attesters.map((attester) => hexToBytes(attester)),
		Uint8Array.of(signatures.length),
		...signatures,
		...closed.map((id) => hexToBytes(id)),
	);
}

export async function expire(
	program: Address,
	id: Hex,
	by?: { vault: Address; operator: TransactionSigner },
): Promise<Instruction> {
	const accounts = [writes(await orderAddress(program, id))];
	if (by) accounts.push(reads(by.vault), signs(by.operator));
	return instruction(program, accounts, Uint8Array.of(3));
}

/** Pays a decided order to its vault or its wallet, or to another account of a wallet that gave its usual one away. */
export async function pay(
	program: Address,
	order: Order,
	{ to, instead }: { to: "vault" | "wallet"; instead?: Address },
): Promise<Instruction> {
	const id = orderId(order);
	const owner = addressOf(to === "vault" ? order.originVault : order.wallet);
	const accounts = [writes(await orderAddress(program, id))];
	if (isNative(order.inputToken)) accounts.push(writes(owner));
	else {
		const usual = await tokenAccountOf(owner, addressOf(order.inputToken));
		accounts.push(writes(instead ?? usual), writes(await inputAddress(program, id)));
		accounts.push(reads(TOKEN_PROGRAM_ADDRESS));
		if (instead) accounts.push(reads(usual));
	}
	return instruction(program, accounts, Uint8Array.of(4));
}

/** Returns the rent of an order that was paid. */
export async function close(program: Address, id: Hex, payer: Address): Promise<Instruction> {
	return instruction(program, [writes(await orderAddress(program, id)), writes(payer)], Uint8Array.of(5));
}

export async function createVault(
	program: Address,
	payer: TransactionSigner,
	owner: TransactionSigner,
): Promise<Instruction> {
	const vault = await vaultAddress(program, owner.address);
	const accounts = [signs(payer, AccountRole.WRITABLE_SIGNER), signs(owner), writes(vault)];
	return instruction(program, [...accounts, reads(systemProgram)], Uint8Array.of(10, 0));
}

export type Owned = { vault: Address; owner: TransactionSigner };

function byOwner(program: Address, { vault, owner }: Owned, ...data: Uint8Array[]): Instruction {
	return instruction(program, [signs(owner), writes(vault)], ...data);
}

export function setRoles(
	program: Address,
	owned: Owned,
	roles: { guardian?: Address; pendingOwner?: Address; operators: Address[] },
): Instruction {
	const operators = Array.from({ length: 4 }, (_, i) => roles.operators[i] ?? systemProgram);
	const keys = [roles.guardian ?? systemProgram, roles.pendingOwner ?? systemProgram, ...operators];
	return byOwner(program, owned, Uint8Array.of(11), ...keys.map(keyOf));
}

export function acceptOwnership(program: Address, owned: Owned): Instruction {
	return byOwner(program, owned, Uint8Array.of(12));
}

export function setCap(program: Address, owned: Owned, token: Address, perHour: bigint): Instruction {
	return byOwner(program, owned, Uint8Array.of(13), keyOf(token), number(perHour));
}

export function pause(program: Address, owned: Owned, isPaused: boolean): Instruction {
	return byOwner(program, owned, Uint8Array.of(14, isPaused ? 1 : 0));
}

export function withdraw(
	program: Address,
	{ vault, owner }: Owned,
	{ amount, to, from }: { amount: bigint; to: Address; from?: Address },
): Instruction {
	const accounts = [signs(owner), writes(vault), writes(to)];
	if (from) accounts.push(writes(from), reads(TOKEN_PROGRAM_ADDRESS));
	return instruction(program, accounts, Uint8Array.of(15), number(amount));
}

function originTerms(order: Order): Uint8Array[] {
	return [
		number(order.originChainId),
		hexToBytes(order.escrow),
		hexToBytes(order.originVault),
		hexToBytes(order.attesterSet),
		hexToBytes(order.wallet),
		hexToBytes(order.inputToken),
		bigNumber(order.inputAmount),
		number(order.minOutput),
		number(order.topUp),
		hexToBytes(order.swapKey).slice(16),
		...times(order),
	];
}

/** The account that a fill changes: the order's own if it began on Solana, else its record. */
function decidedAt(program: Address, order: Order): Promise<Address> {
	const address = order.originChainId === chainId ? orderAddress : recordAddress;
	return address(program, orderId(order));
}

export async function fill(
	program: Address,
	order: Order,
	{ operator, amount, instead }: { operator: TransactionSigner; amount: bigint; instead?: Address },
): Promise<Instruction> {
	const [vault, recipient] = [addressOf(order.destinationVault), addressOf(order.recipient)];
	const getsSol = isNative(order.outputToken) || order.topUp > 0n;
	const accounts = [signs(operator), writes(vault), writes(await decidedAt(program, order))];
	accounts.push(getsSol ? writes(recipient) : reads(recipient), reads(systemProgram));
	if (!isNative(order.outputToken)) {
		const mint = addressOf(order.outputToken);
		const usual = await tokenAccountOf(recipient, mint);
		accounts.push(writes(await tokenAccountOf(vault, mint)), writes(instead ?? usual));
		accounts.push(reads(TOKEN_PROGRAM_ADDRESS));
		if (instead) accounts.push(reads(usual));
	}
	return instruction(program, accounts, Uint8Array.of(16), ...originTerms(order), number(amount));
}

export async function voidOrder(
	program: Address,
	order: Order,
	operator: TransactionSigner,
): Promise<Instruction> {
	const [vault, recipient] = [addressOf(order.destinationVault), addressOf(order.recipient)];
	const accounts = [signs(operator), writes(vault), writes(await decidedAt(program, order))];
	accounts.push(reads(recipient), reads(systemProgram), reads(addressOf(order.outputToken)));
	return instruction(program, accounts, Uint8Array.of(17), ...originTerms(order));
}

export async function closeRecord(program: Address, id: Hex, vault: Address): Promise<Instruction> {
	return instruction(program, [writes(await recordAddress(program, id)), writes(vault)], Uint8Array.of(18));
}
