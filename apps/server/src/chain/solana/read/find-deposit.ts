import {
	fromSolanaWord,
	fromSwapKey,
	memoProgramAddress,
	type Order,
	orderId,
	SwapError,
	swapUuidTimeMs,
} from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import type { Hex } from "viem";
import type { SolanaChain } from "../connect-solana.ts";
import { fromSignature, listSignatures } from "./list-signatures.ts";
import { type Landed, readLanded } from "./read-landed.ts";

const signaturesPerRequest = 1000;
/** Limits of one call: anyone can name a wallet in any number of transactions, and the next call continues. */
const mostSignatures = 3_000;
const mostRequests = 30;
/** The most signatures to list in all calls of a search: a deposit behind more of them is left to a person. */
const mostListed = 100_000;
/** The most transactions to read: each is a request of its own, and anyone can write memos. */
const mostRead = 5;
/** The chain's clock and ours differ by less than this. */
const clockSlackSeconds = 3_600;

/**
 * `this`: the order's input was paid by the transaction with that signature of the wallet's. `another`: by another one
 * of the same quote. `untold`: there are too many transactions to tell. `unfinished`: the wallet has more transactions
 * since the quote than one call lists; the next call with the same search continues.
 */
type DepositFound = "this" | "another" | "none" | "untold" | "unfinished";

/** The progress of a search. The wallet's transactions that land after it has begun are not found. */
export type DepositSearch = {
	/** The search continues with transactions older than this one; undefined to begin with the newest. */
	before: Signature | undefined;
	/** The oldest transactions with the order's memo so far, newest first. */
	memos: Signature[];
	/** The number of signatures listed so far. */
	listed: number;
};

export function newDepositSearch(): DepositSearch {
	return { before: undefined, memos: [], listed: 0 };
}

/**
 * Returns whether an order's input was paid, and by which transaction: the one, among the wallet's since the quote,
 * that has a fee payer of ours and the order's id as a memo. Updates the search, also if it throws.
 */
export async function findDeposit(
	chain: SolanaChain,
	{
		order,
		signature,
		search = newDepositSearch(),
	}: { order: Order; signature: Hex; search?: DepositSearch | undefined },
): Promise<DepositFound> {
	const id = orderId(order);
	const isAll = await listMemos(chain, { order, search });
	if (!isAll && search.listed < mostListed) return "unfinished";
	// The oldest first: others know the id only once the deposit has made it public.
	const read = search.memos.toReversed().slice(0, mostRead);
	let found: DepositFound = isAll && search.memos.length <= mostRead ? "none" : "untold";
	for (const one of read) {
		const landed = await readLanded(chain, fromSignature(one));
		if (!landed) throw new SwapError("UPSTREAM_UNAVAILABLE", { upstream: `chain ${chain.chainId}` });
		if (!isDeposit(landed)) continue;
		if (landed.signatures.get(fromSolanaWord(order.wallet)) === signature) return "this";
		found = "another";
	}
	return found;

	/** Returns whether it is the deposit. The fee payer decides: the same memo in others' transactions does not count. */
	function isDeposit({ message, isFailed }: Landed): boolean {
		return (
			!isFailed &&
			chain.deployment.feePayers.includes(message.feePayer) &&
			message.instructions.some(
				({ program, data }) => program === memoProgramAddress && Buffer.from(data).toString("utf8") === id,
			)
		);
	}
}

/** Continues to list the wallet's transactions with the order's memo. Returns whether there can be no more of them. */
async function listMemos(
	chain: SolanaChain,
	{ order, search }: { order: Order; search: DepositSearch },
): Promise<boolean> {
	const id = orderId(order);
	const sinceSeconds = swapUuidTimeMs(fromSwapKey(order.swapKey)) / 1_000 - clockSlackSeconds;
	let limit = signaturesPerRequest;
	const upTo = search.listed + mostSignatures;
	for (let requests = 0; requests < mostRequests && search.listed < upTo; requests++) {
		const page = await listSignatures(chain, {
			address: fromSolanaWord(order.wallet),
			commitment: "confirmed",
			before: search.before,
			limit,
		});
		const last = page.at(-1);
		if (!last) return true;
		const withMemo = page.filter(({ isFailed, memo }) => !isFailed && memo?.includes(id));
		// One more than will be read shows that there are too many.
		search.memos = [...search.memos, ...withMemo.map(({ signature }) => signature)].slice(-mostRead - 1);
		search.before = last.signature;
		search.listed += page.length;
		if (last.timestamp !== undefined && last.timestamp < sinceSeconds) return true;
		// A node that returns fewer will do so again.
		limit = page.length;
	}
	return false;
}
