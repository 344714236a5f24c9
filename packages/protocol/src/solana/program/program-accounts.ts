import { getAddressDecoder } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import type { SolanaAddress } from "../solana-address.ts";

// The program's accounts, as its `escrow.rs` and `vault.rs` lay them out. A reader must check first that the program
// owns the account, because anyone can put the same bytes into an account of another program.

/** The size of each kind of account in bytes, from which its rent is computed. */
export const programAccountSizes = { order: 240, vault: 1_160, record: 64 };

const orderStates = ["prepared", "opened", "released", "refunded"] as const;

/** An order that began on Solana. */
export type OrderAccount = {
	/** `prepared`: its accounts exist, but its input may not have arrived. */
	state: (typeof orderStates)[number];
	/** True once the input has left. */
	isPaid: boolean;
	/** True if the order also ends on Solana. */
	isLocal: boolean;
	inputAmount: bigint;
	openDeadline: bigint;
	fillDeadline: bigint;
	refundAfter: bigint;
	/** The lamports that the payer put into this account. */
	rent: bigint;
	orderId: Hex;
	/** The account that paid the rent. */
	payer: SolanaAddress;
	wallet: SolanaAddress;
	vault: SolanaAddress;
	attesterSet: Hex;
	/** The mint; the native token's id for SOL. */
	token: SolanaAddress;
};

/** An order from another chain that was filled or voided here. */
export type RecordAccount = {
	state: "filled" | "voided";
	amount: bigint;
	/** The lamports that the recipient got beside the amount. */
	topUp: bigint;
	/** The first second in which the record may be closed. */
	closableAt: bigint;
	vault: SolanaAddress;
};

export type VaultCap = { token: SolanaAddress; perHour: bigint; used: bigint; updatedAt: bigint };

export type VaultAccount = {
	isPaused: boolean;
	owner: SolanaAddress;
	pendingOwner: SolanaAddress | undefined;
	guardian: SolanaAddress | undefined;
	operators: SolanaAddress[];
	/** One entry for each token that may leave. */
	caps: VaultCap[];
};

/** Solana's own account with the time by which the program judges deadlines. */
export const clockAddress = "SysvarC1ock11111111111111111111111111111111" as SolanaAddress;

/** Returns the unix seconds in the clock's account. */
export function decodeClock(data: Uint8Array): bigint {
	return new DataView(data.buffer, data.byteOffset, data.byteLength).getBigInt64(32, true);
}

/** Returns the order in an account of the program; undefined if the bytes are of another kind. */
export function decodeOrderAccount(data: Uint8Array): OrderAccount | undefined {
	const read = fieldsOf(data, { tag: 1, size: programAccountSizes.order });
	const state = orderStates[data[1] ?? -1];
	if (!read || !state) return undefined;
	return {
		state,
		isPaid: data[2] !== 0,
		isLocal: data[3] !== 0,
		inputAmount: read.number(8),
		openDeadline: read.number(16),
		fillDeadline: read.number(24),
		refundAfter: read.number(32),
		rent: read.number(40),
		orderId: read.word(48),
		payer: read.key(80),
		wallet: read.key(112),
		vault: read.key(144),
		attesterSet: read.word(176),
		token: read.key(208),
	};
}

/** Returns the record in an account of the program; undefined if the bytes are of another kind. */
export function decodeRecordAccount(data: Uint8Array): RecordAccount | undefined {
	const read = fieldsOf(data, { tag: 3, size: programAccountSizes.record });
	const state = ([undefined, "filled", "voided"] as const)[data[1] ?? 0];
	if (!read || !state) return undefined;
	return {
		state,
		amount: read.number(8),
		topUp: read.number(16),
		closableAt: read.number(24),
		vault: read.key(32),
	};
}

const operatorsAt = 136;
const capsAt = 264;
const capSize = 56;

/** Returns the vault in an account of the program; undefined if the bytes are of another kind. */
export function decodeVaultAccount(data: Uint8Array): VaultAccount | undefined {
	const read = fieldsOf(data, { tag: 2, size: programAccountSizes.vault });
	if (!read) return undefined;
	const keyOrNone = (at: number) => (isEmpty(data.subarray(at, at + 32)) ? undefined : read.key(at));
	const places = (from: number, to: number, size: number) =>
		Array.from({ length: (to - from) / size }, (_, i) => from + i * size);
	return {
		isPaused: data[1] !== 0,
		owner: read.key(40),
		pendingOwner: keyOrNone(72),
		guardian: keyOrNone(104),
		operators: places(operatorsAt, capsAt, 32).flatMap((at) => keyOrNone(at) ?? []),
		caps: places(capsAt, programAccountSizes.vault, capSize)
			.map((at) => ({
				token: read.key(at),
				perHour: read.number(at + 32),
				used: read.number(at + 40),
				updatedAt: read.number(at + 48),
			}))
			.filter(({ perHour }) => perHour > 0n),
	};
}

function fieldsOf(data: Uint8Array, { tag, size }: { tag: number; size: number }) {
	if (data.length !== size || data[0] !== tag) return undefined;
	const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
	return {
		number: (at: number) => view.getBigUint64(at, true),
		word: (at: number) => bytesToHex(data.subarray(at, at + 32)),
		key: (at: number): SolanaAddress => getAddressDecoder().decode(data, at),
	};
}

function isEmpty(bytes: Uint8Array): boolean {
	return bytes.every((byte) => byte === 0);
}
