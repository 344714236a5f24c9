import { createPublicKey, verify } from "node:crypto";
import {
	type Address,
	type CompiledTransactionMessage,
	type CompiledTransactionMessageWithLifetime,
	getAddressEncoder,
	getBase58Decoder,
	getCompiledTransactionMessageDecoder,
	getTransactionDecoder,
	type Transaction,
} from "@solana/kit";
import { invalidParams } from "./rpc-error.ts";

type Message = Extract<CompiledTransactionMessage, { version: 0 | "legacy" }> &
	CompiledTransactionMessageWithLifetime;

/** A transaction as it was sent, with the fields that the chain needs before it runs. */
export type WireTransaction = {
	bytes: Uint8Array;
	transaction: Transaction;
	message: Message;
	/** The fee payer's signature, which identifies the transaction. */
	signature: string;
	keys: Address[];
	isWritable: (index: number) => boolean;
	blockhash: string;
	microLamportsPerUnit: bigint;
	fee: bigint;
};

/** Size of one packet between nodes. */
const maxBytes = 1232;

export function readWireTransaction(bytes: Uint8Array): WireTransaction {
	if (bytes.length > maxBytes) {
		throw invalidParams(
			`base64 encoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes (max: encoded/raw 1644/${maxBytes})`,
		);
	}
	try {
		const transaction = getTransactionDecoder().decode(bytes);
		const signature = Object.values(transaction.signatures)[0];
		return {
			bytes,
			transaction,
			signature: getBase58Decoder().decode(signature ?? new Uint8Array(64)),
			...readMessage(transaction.messageBytes as unknown as Uint8Array),
		};
	} catch (error) {
		throw invalidParams(`failed to deserialize VersionedTransaction: ${(error as Error).message}`);
	}
}

type ReadMessage = Omit<WireTransaction, "bytes" | "transaction" | "signature">;

export function readMessage(bytes: Uint8Array): ReadMessage {
	const message = getCompiledTransactionMessageDecoder().decode(bytes);
	if (message.version !== 0 && message.version !== "legacy") {
		throw invalidParams("only legacy and version 0 messages are supported here");
	}
	if ("addressTableLookups" in message && message.addressTableLookups?.length) {
		throw invalidParams("address lookup tables are not supported here");
	}
	const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header;
	const keys = message.staticAccounts;
	const { unitLimit, microLamportsPerUnit } = computeBudget(message);
	return {
		message,
		keys,
		isWritable: (index) =>
			index < numSignerAccounts
				? index < numSignerAccounts - numReadonlySignerAccounts
				: index < keys.length - numReadonlyNonSignerAccounts,
		blockhash: message.lifetimeToken,
		microLamportsPerUnit,
		fee:
			BigInt(numSignerAccounts) * lamportsPerSignature +
			(microLamportsPerUnit * unitLimit + 999_999n) / 1_000_000n,
	};
}

const lamportsPerSignature = 5_000n;
const computeBudgetProgram = "ComputeBudget111111111111111111111111111111";
const maxUnits = 1_400_000n;
/**
 * Default compute units per instruction if the transaction sets no limit, for programs built into the node and for
 * others.
 */
const builtinUnits = 3_000n;
const programUnits = 200_000n;
const builtins = new Set([computeBudgetProgram, "11111111111111111111111111111111"]);

function computeBudget(message: Message): { unitLimit: bigint; microLamportsPerUnit: bigint } {
	let unitLimit: bigint | undefined;
	let microLamportsPerUnit = 0n;
	let unasked = 0n;
	for (const { programAddressIndex, data } of message.instructions) {
		const program = message.staticAccounts[programAddressIndex] ?? "";
		unasked += builtins.has(program) ? builtinUnits : programUnits;
		if (program !== computeBudgetProgram || !data) continue;
		const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
		if (data[0] === 2 && data.length >= 5) unitLimit = BigInt(view.getUint32(1, true));
		if (data[0] === 3 && data.length >= 9) microLamportsPerUnit = view.getBigUint64(1, true);
	}
	const asked = unitLimit ?? unasked;
	return { unitLimit: asked < maxUnits ? asked : maxUnits, microLamportsPerUnit };
}

/** The bytes that SubjectPublicKeyInfo puts before the 32 bytes of an Ed25519 key. */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

/** Returns true if all required signers signed this message. */
export function isSigned({ transaction }: WireTransaction): boolean {
	const encoder = getAddressEncoder();
	return Object.entries(transaction.signatures).every(([address, signature]) => {
		if (!signature) return false;
		const key = Buffer.concat([spkiPrefix, encoder.encode(address as Address) as Uint8Array]);
		try {
			const publicKey = createPublicKey({ key, format: "der", type: "spki" });
			return verify(null, transaction.messageBytes as unknown as Uint8Array, publicKey, signature);
		} catch {
			// The address is not a point of the curve.
			return false;
		}
	});
}
