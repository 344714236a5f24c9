import type { SolanaAddress } from "@geoswap/protocol";
import {
	getBase58Encoder,
	getBase64Encoder,
	getCompiledTransactionMessageDecoder,
	getTransactionDecoder,
	type Signature,
} from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import type { AuditedSolana } from "./audited-solana.ts";
import { inTurns } from "./in-turns.ts";
import { memoOf, type PaymentSource, paymentSources } from "./solana-instructions.ts";
import { closedAccounts, type MadeMarker, madeMarkers } from "./solana-markers.ts";

/** A final transaction, as far as its effects on money go. All of them stay in memory, so it has what checks ask for only. */
export type SolanaTransaction = {
	signature: Hex;
	slot: number;
	isFailed: boolean;
	fee: bigint;
	feePayer: SolanaAddress;
	/** Markers of our keys that it made, and accounts that it closed. */
	made: MadeMarker[];
	closed: SolanaAddress[];
	/** The order that it names. */
	memo: Hex | undefined;
	/** By account of the escrow: who paid in, and from which of his own. */
	sources: Map<SolanaAddress, PaymentSource>;
	/** By address: how many more it has than before. Where that changed. */
	lamports: Map<SolanaAddress, bigint>;
	/** By token account: how much more it has of its token. Where that changed, or its lamports did. */
	tokens: Map<SolanaAddress, bigint>;
};

export type SolanaHistory = {
	/** Oldest first. */
	transactions: readonly SolanaTransaction[];
	/** By address: the newest transaction that names it. */
	newest: ReadonlyMap<SolanaAddress, Signature>;
};

/** As many as a node lists at once. */
const maxPageSize = 1_000;

/** Every final transaction that names one of our keys or accounts. */
export async function readSolanaTransactions(
	chain: AuditedSolana,
	{
		pageSize = maxPageSize,
		after,
	}: {
		pageSize?: number;
		/** What was read before: only what is newer is asked for. What is final stays. */
		after?: SolanaHistory | undefined;
	} = {},
): Promise<SolanaHistory> {
	const { escrow, vault } = chain.deployment;
	const held = chain.accounts.map(({ address }) => address);
	const addresses = [...new Set([...chain.feePayers, escrow, vault, ...held])];
	const listed = await inTurns(addresses, (address) =>
		signaturesOf(chain, { address, pageSize, until: after?.newest.get(address) }),
	);
	const newest = new Map(after?.newest);
	addresses.forEach((address, i) => {
		const first = listed[i]?.[0];
		if (first) newest.set(address, first);
	});
	// Addresses share transactions, and a new one has a history.
	const known = new Set(after?.transactions.map(({ signature }) => signature));
	const unknown = [...new Set(listed.flat())].filter((signature) => !known.has(hexOf(signature)));
	const read = await inTurns(unknown, (signature) => readTransaction(chain, signature));
	const transactions = [...(after?.transactions ?? []), ...read].toSorted((a, b) => a.slot - b.slot);
	return { transactions, newest };
}

async function signaturesOf(
	{ rpc }: AuditedSolana,
	{ address, pageSize, until }: { address: SolanaAddress; pageSize: number; until: Signature | undefined },
): Promise<Signature[]> {
	const signatures: Signature[] = [];
	for (let before: Signature | undefined; ; ) {
		const page = await rpc
			.getSignaturesForAddress(address, {
				commitment: "finalized",
				limit: pageSize,
				...(before ? { before } : {}),
				...(until ? { until } : {}),
			})
			.send();
		signatures.push(...page.map(({ signature }) => signature));
		const last = page.at(-1);
		if (!last || page.length < pageSize) return signatures;
		before = last.signature;
	}
}

async function readTransaction(chain: AuditedSolana, signature: Signature): Promise<SolanaTransaction> {
	const found = await chain.rpc
		.getTransaction(signature, {
			commitment: "finalized",
			encoding: "base64",
			maxSupportedTransactionVersion: 0,
		})
		.send();
	const meta = found?.meta;
	if (!meta) throw new Error(`the chain lists transaction ${signature} and does not show it`);
	const transaction = getTransactionDecoder().decode(getBase64Encoder().encode(found.transaction[0]));
	const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
	const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
	const addresses = [...message.staticAccounts, ...writable, ...readonly];
	const addressAt = (index: number): SolanaAddress => {
		const address = addresses[index];
		if (!address) throw new Error(`transaction ${signature} names no account ${index}`);
		return address;
	};
	if (!("instructions" in message))
		throw new Error(`transaction ${signature} is of a version not known here`);
	const isFailed = meta.err !== null;
	const lamports = new Map<SolanaAddress, bigint>();
	addresses.forEach((address, i) => {
		const change = (meta.postBalances[i] ?? 0n) - (meta.preBalances[i] ?? 0n);
		if (change !== 0n) lamports.set(address, change);
	});
	const tokens = new Map<SolanaAddress, bigint>();
	for (const [sign, balances] of [
		[-1n, meta.preTokenBalances ?? []],
		[1n, meta.postTokenBalances ?? []],
	] as const) {
		for (const { accountIndex, uiTokenAmount } of balances) {
			const address = addressAt(accountIndex);
			tokens.set(address, (tokens.get(address) ?? 0n) + sign * BigInt(uiTokenAmount.amount));
		}
	}
	for (const [address, change] of tokens) {
		if (change === 0n && !lamports.has(address)) tokens.delete(address);
	}
	// What failed did nothing.
	const instructions = (isFailed ? [] : message.instructions).map(
		({ programAddressIndex, accountIndices = [], data }) => ({
			program: addressAt(programAddressIndex),
			accounts: accountIndices.map(addressAt),
			data: new Uint8Array(data ?? []),
		}),
	);
	return {
		signature: hexOf(signature),
		slot: Number(found.slot),
		isFailed,
		fee: meta.fee,
		feePayer: addressAt(0),
		made: madeMarkers(chain.deployment, instructions),
		closed: closedAccounts(instructions),
		memo: memoOf(instructions),
		sources: paymentSources(chain, instructions),
		lamports,
		tokens,
	};
}

function hexOf(signature: Signature): Hex {
	return bytesToHex(getBase58Encoder().encode(signature) as Uint8Array);
}
