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

/** A final transaction, as far as its effects on money go. */
export type SolanaTransaction = {
	signature: Hex;
	slot: number;
	isFailed: boolean;
	fee: bigint;
	feePayer: SolanaAddress;
	/** Those of the message itself, in order. */
	instructions: { program: SolanaAddress; accounts: SolanaAddress[]; data: Uint8Array }[];
	/** By address: lamports before and after. */
	lamports: Map<SolanaAddress, Change>;
	/** By token account. */
	tokens: Map<SolanaAddress, Change & { mint: SolanaAddress }>;
};
type Change = { before: bigint; after: bigint };

/** As many as a node lists at once. */
const maxPageSize = 1_000;
const atOnce = 8;

/** Every final transaction that names one of our keys or accounts, oldest first. */
export async function readSolanaTransactions(
	chain: AuditedSolana,
	{
		pageSize = maxPageSize,
		known,
	}: {
		pageSize?: number;
		/** By signature: these are not asked for again. */
		known?: ReadonlyMap<string, SolanaTransaction> | undefined;
	} = {},
): Promise<SolanaTransaction[]> {
	const { escrow, vault } = chain.deployment;
	const held = chain.accounts.map(({ address }) => address);
	const addresses = [...new Set([...chain.feePayers, escrow, vault, ...held])];
	const listed = await inTurns(addresses, (address) => signaturesOf(chain, { address, pageSize }));
	const signatures = [...new Set(listed.flat())];
	const transactions = await inTurns(
		signatures,
		async (signature) => known?.get(hexOf(signature)) ?? readTransaction(chain, signature),
	);
	return transactions.toSorted((a, b) => a.slot - b.slot);
}

async function signaturesOf(
	{ rpc }: AuditedSolana,
	{ address, pageSize }: { address: SolanaAddress; pageSize: number },
): Promise<Signature[]> {
	const signatures: Signature[] = [];
	for (let before: Signature | undefined; ; ) {
		const page = await rpc
			.getSignaturesForAddress(address, {
				commitment: "finalized",
				limit: pageSize,
				...(before ? { before } : {}),
			})
			.send();
		signatures.push(...page.map(({ signature }) => signature));
		const last = page.at(-1);
		if (!last || page.length < pageSize) return signatures;
		before = last.signature;
	}
}

async function readTransaction({ rpc }: AuditedSolana, signature: Signature): Promise<SolanaTransaction> {
	const found = await rpc
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
	const tokens: SolanaTransaction["tokens"] = new Map();
	for (const [side, balances] of [
		["before", meta.preTokenBalances ?? []],
		["after", meta.postTokenBalances ?? []],
	] as const) {
		for (const { accountIndex, mint, uiTokenAmount } of balances) {
			const address = addressAt(accountIndex);
			const change = tokens.get(address) ?? { mint, before: 0n, after: 0n };
			tokens.set(address, { ...change, [side]: BigInt(uiTokenAmount.amount) });
		}
	}
	if (!("instructions" in message))
		throw new Error(`transaction ${signature} is of a version not known here`);
	return {
		signature: hexOf(signature),
		slot: Number(found.slot),
		isFailed: meta.err !== null,
		fee: meta.fee,
		feePayer: addressAt(0),
		instructions: message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
			program: addressAt(programAddressIndex),
			accounts: accountIndices.map(addressAt),
			data: new Uint8Array(data ?? []),
		})),
		lamports: new Map(
			addresses.map((address, i) => [
				address,
				{ before: meta.preBalances[i] ?? 0n, after: meta.postBalances[i] ?? 0n },
			]),
		),
		tokens,
	};
}

function hexOf(signature: Signature): Hex {
	return bytesToHex(getBase58Encoder().encode(signature) as Uint8Array);
}

/** Results in the order of what they are of, a few at a time: a node answers only so many at once. */
async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
	const results: R[] = [];
	let next = 0;
	const work = async () => {
		while (next < items.length) {
			const i = next++;
			results[i] = await run(items[i] as T);
		}
	};
	await Promise.all(Array.from({ length: atOnce }, work));
	return results;
}
