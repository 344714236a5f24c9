import { fromSolanaWord, type SolanaAddress, solanaNativeToken, tokenAccountOf } from "@geoswap/protocol";
import {
	decodeTransactionFromRpcResponse,
	getAccountMetasFromCompiledTransactionMessage,
	getBase58Encoder,
	getInstructionsFromCompiledTransactionMessage,
	isSignerRole,
	MAX_SUPPORTED_TRANSACTION_VERSION,
	type Signature,
	type TokenBalance,
} from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { SolanaChain, SolanaCommitment } from "../connect-solana.ts";
import { toSignature } from "./read-statuses.ts";

type LandedInstruction = { program: SolanaAddress; accounts: SolanaAddress[]; data: Uint8Array };
type Change = { before: bigint; after: bigint };
type TokenChange = Change & { mint: SolanaAddress; owner: SolanaAddress };

/** A transaction that is in a block, and what it changed. */
export type Landed = {
	signature: Hex;
	slot: number;
	/** The time of its block in seconds; undefined if the node does not return it. */
	timestamp: number | undefined;
	/** If true, it changed nothing, except for its fee. */
	isFailed: boolean;
	fee: bigint;
	/** The signature of each signer. */
	signatures: Map<SolanaAddress, Hex>;
	/** Only the transaction's own instructions, not those that programs called in turn. */
	message: { feePayer: SolanaAddress; signers: SolanaAddress[]; instructions: LandedInstruction[] };
	/** The lines that its programs logged, possibly cut at the end; undefined if the node keeps no logs. */
	logs: readonly string[] | undefined;
	/** The changes of every account that it named. */
	lamports: Map<SolanaAddress, Change>;
	/** The changes of every token account that it named, by the account's address. */
	tokens: Map<SolanaAddress, TokenChange>;
};

/**
 * Reads a transaction. Returns undefined if the node does not have it at that commitment. The node may be behind, see
 * `readUnknown`.
 */
export async function readLanded(
	{ chainId, rpc }: SolanaChain,
	signature: Hex,
	commitment: SolanaCommitment = "confirmed",
): Promise<Landed | undefined> {
	const found = await requestChain(
		chainId,
		rpc
			.getTransaction(toSignature(signature), {
				commitment,
				encoding: "base64",
				maxSupportedTransactionVersion: MAX_SUPPORTED_TRANSACTION_VERSION,
			})
			.send(),
	);
	if (!found) return undefined;
	const { meta, slot, blockTime } = found;
	// Without `meta` it is unknown what was moved.
	if (!meta) throw new Error(`the chain has no record of what ${toSignature(signature)} changed`);
	const { compiledMessage, loadedAddresses, transaction } = decodeTransactionFromRpcResponse(found);
	const accounts = getAccountMetasFromCompiledTransactionMessage(compiledMessage, loadedAddresses);
	const addresses = accounts.map((account) => account.address);
	const [feePayer] = addresses;
	if (
		!feePayer ||
		meta.preBalances.length !== addresses.length ||
		meta.postBalances.length !== addresses.length
	) {
		throw new Error(`the chain returned only a part of ${toSignature(signature)}`);
	}
	return {
		signature,
		slot: Number(slot),
		timestamp: blockTime === null ? undefined : Number(blockTime),
		isFailed: meta.err !== null,
		fee: meta.fee,
		signatures: new Map(
			Object.entries(transaction?.signatures ?? {}).flatMap(([address, bytes]) =>
				bytes ? [[address as SolanaAddress, bytesToHex(new Uint8Array(bytes))]] : [],
			),
		),
		message: {
			feePayer,
			signers: accounts.filter(({ role }) => isSignerRole(role)).map(({ address }) => address),
			instructions: getInstructionsFromCompiledTransactionMessage(compiledMessage, loadedAddresses).map(
				(instruction) => ({
					program: instruction.programAddress,
					accounts: (instruction.accounts ?? []).map(({ address }) => address),
					data: new Uint8Array(instruction.data ?? []),
				}),
			),
		},
		logs: meta.logMessages ?? undefined,
		lamports: new Map(
			addresses.map((address, i) => [
				address,
				{ before: meta.preBalances[i] ?? 0n, after: meta.postBalances[i] ?? 0n },
			]),
		),
		tokens: tokenChanges(addresses, meta.preTokenBalances ?? [], meta.postTokenBalances ?? []),
	};
}

/**
 * Returns the changes of balances. An account that was created held nothing before; a closed one holds nothing after.
 */
function tokenChanges(
	addresses: readonly SolanaAddress[],
	before: readonly TokenBalance[],
	after: readonly TokenBalance[],
): Map<SolanaAddress, TokenChange> {
	const changes = new Map<SolanaAddress, TokenChange>();
	for (const [side, balances] of [
		["before", before],
		["after", after],
	] as const) {
		for (const { accountIndex, mint, owner, uiTokenAmount } of balances) {
			const address = addresses[accountIndex];
			if (!address || !owner) throw new Error("the chain names no account or owner for a balance");
			const change = changes.get(address) ?? { mint, owner, before: 0n, after: 0n };
			changes.set(address, { ...change, mint, owner, [side]: BigInt(uiTokenAmount.amount) });
		}
	}
	return changes;
}

/** A page that the node refuses is requested again with a tenth of its entries, down to one. */
const shrinkBy = 10;

/** A transaction that names an address. */
export type ListedSignature = {
	/** In base58, because decoding is slow and only few signatures of a list are used. */
	signature: Signature;
	isFailed: boolean;
	memo: string | null;
	/** The time of its block in seconds; undefined if the node does not return it. */
	timestamp: number | undefined;
};

/**
 * Lists transactions that name an address, newest first, beginning before the given one. A node may return fewer than
 * `limit` although there are more, so only an empty page is the end of the list. Anyone can make the list, and the memos
 * in it, as long as they pay for, so a page that the node refuses, for example for its size, is requested smaller.
 */
export async function listSignatures(
	{ chainId, rpc }: SolanaChain,
	{
		address,
		commitment,
		before,
		limit,
	}: { address: SolanaAddress; commitment: SolanaCommitment; before: Signature | undefined; limit: number },
): Promise<ListedSignature[]> {
	for (let size = limit; ; size = Math.max(1, Math.floor(size / shrinkBy))) {
		try {
			const asking = rpc.getSignaturesForAddress(address, {
				commitment,
				limit: size,
				...(before ? { before } : {}),
			});
			const page = await requestChain(chainId, asking.send());
			return page.map(({ signature, err, memo, blockTime }) => ({
				signature,
				isFailed: err !== null,
				memo,
				timestamp: blockTime === null ? undefined : Number(blockTime),
			}));
		} catch (error) {
			if (size === 1) throw error;
		}
	}
}

/** Converts a signature from base58. */
export function fromSignature(signature: Signature): Hex {
	return bytesToHex(new Uint8Array(getBase58Encoder().encode(signature)));
}

/**
 * Returns how much more an owner holds after the transaction, from balances and not from instructions; negative if it
 * holds less. A token is counted in the owner's associated account, even if that account was given away. The
 * transaction's fee is not counted.
 */
export async function receivedBy(
	landed: Landed,
	{ owner, token }: { owner: SolanaAddress; token: Hex },
): Promise<bigint> {
	const mint = fromSolanaWord(token);
	if (mint === solanaNativeToken) {
		const change = landed.lamports.get(owner);
		if (!change) return 0n;
		return change.after - change.before + (owner === landed.message.feePayer ? landed.fee : 0n);
	}
	const change = landed.tokens.get(await tokenAccountOf({ owner, token: mint }));
	return change?.mint === mint ? change.after - change.before : 0n;
}
