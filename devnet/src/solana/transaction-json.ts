import { getBase58Decoder, getBase64Decoder } from "@solana/kit";
import type { TransactionMetadata } from "litesvm";
import { invalidParams } from "./rpc-error.ts";
import type { LandedTransaction } from "./solana-chain.ts";
import type { readMessage, WireTransaction } from "./wire-transaction.ts";

const memoProgram = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";

/** Returns a landed transaction and its effects in a node's JSON form. */
export function transactionJson(
	{ wire, block, error, meta, lamports, tokens }: LandedTransaction,
	encoding: unknown,
) {
	return {
		blockTime: block.unixSeconds,
		slot: block.slot,
		version: wire.message.version,
		transaction: encodedTransaction(wire, encoding),
		meta: {
			computeUnitsConsumed: meta.computeUnitsConsumed(),
			err: error,
			fee: wire.fee,
			innerInstructions: innerInstructions(meta),
			loadedAddresses: { readonly: [], writable: [] },
			logMessages: meta.logs(),
			preBalances: lamports.before,
			postBalances: lamports.after,
			preTokenBalances: tokens.before,
			postTokenBalances: tokens.after,
			rewards: [],
			status: error === null ? { Ok: null } : { Err: error },
		},
	};
}

function encodedTransaction(wire: WireTransaction, encoding: unknown) {
	switch (encoding) {
		case "base64":
			return [getBase64Decoder().decode(wire.bytes), "base64"];
		case "base58":
			return [getBase58Decoder().decode(wire.bytes), "base58"];
		case "json":
			return {
				signatures: Object.values(wire.transaction.signatures).map((signature) =>
					getBase58Decoder().decode(signature ?? new Uint8Array(64)),
				),
				message: messageJson(wire.message),
			};
		default:
			throw invalidParams(`Invalid params: encoding ${String(encoding)} is not supported here`);
	}
}

function messageJson(message: ReturnType<typeof readMessage>["message"]) {
	const { header, staticAccounts, lifetimeToken, instructions, version } = message;
	return {
		accountKeys: staticAccounts,
		header: {
			numReadonlySignedAccounts: header.numReadonlySignerAccounts,
			numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
			numRequiredSignatures: header.numSignerAccounts,
		},
		instructions: instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
			accounts: accountIndices,
			data: getBase58Decoder().decode(data ?? new Uint8Array()),
			programIdIndex: programAddressIndex,
			stackHeight: 1,
		})),
		recentBlockhash: lifetimeToken,
		...(version === 0 ? { addressTableLookups: [] } : {}),
	};
}

export function innerInstructions(meta: TransactionMetadata) {
	return meta.innerInstructions().flatMap((inner, index) =>
		inner.length === 0
			? []
			: [
					{
						index,
						instructions: inner.map((one) => ({
							accounts: [...one.instruction().accounts()],
							data: getBase58Decoder().decode(one.instruction().data()),
							programIdIndex: one.instruction().programIdIndex(),
							stackHeight: one.stackHeight(),
						})),
					},
				],
	);
}

/** Returns all memos of a transaction, each with its length, in the form of getSignaturesForAddress. */
export function memoOf({ message }: WireTransaction): string | null {
	const memos = message.instructions
		.filter(({ programAddressIndex }) => message.staticAccounts[programAddressIndex] === memoProgram)
		.map(({ data }) => Buffer.from((data ?? new Uint8Array()) as Uint8Array).toString("utf8"));
	return memos.length > 0 ? memos.map((memo) => `[${Buffer.byteLength(memo)}] ${memo}`).join("; ") : null;
}
