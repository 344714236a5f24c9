import {
	fromSolanaWord,
	fromSwapKey,
	memoProgramAddress,
	type Order,
	orderId,
	SwapError,
	swapUuidTimeMs,
} from "@geoswap/protocol";
import { getBase58Encoder, type Signature } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { askChain } from "../../ask-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";
import { type Landed, readLanded } from "./read-landed.ts";

const signaturesPerRequest = 1000;
/** A wallet may have any number of transactions of its own: a deposit far behind them is left to a person. */
const mostRequests = 3;
/** The most transactions to read: each is a request of its own, and anyone can write memos. */
const mostRead = 5;
/** The chain's clock and ours differ by less than this. */
const clockSlackSeconds = 3_600;

/**
 * `this`: the order's input was paid by the transaction with that signature of the wallet's. `another`: by another one
 * of the same quote. `untold`: there are too many transactions to tell.
 */
type DepositFound = "this" | "another" | "none" | "untold";

/**
 * Returns whether an order's input was paid, and by which transaction: the one, among the wallet's since the quote,
 * that has a fee payer of ours and the order's id as a memo.
 */
export async function findDeposit(
	chain: SolanaChain,
	{ order, signature }: { order: Order; signature: Hex },
): Promise<DepositFound> {
	const id = orderId(order);
	const { memos, isAll } = await memosSinceQuote(chain, order);
	// The oldest first: others know the id only once the deposit has made it public.
	const read = memos.toReversed().slice(0, mostRead);
	let found: DepositFound = isAll && memos.length <= mostRead ? "none" : "untold";
	for (const hash of read) {
		const landed = await readLanded(chain, hash);
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

/** Reads the wallet's transactions with the order's memo, newest first, and whether there can be no more of them. */
async function memosSinceQuote(
	{ chainId, rpc }: SolanaChain,
	order: Order,
): Promise<{ memos: Hex[]; isAll: boolean }> {
	const id = orderId(order);
	const sinceSeconds = swapUuidTimeMs(fromSwapKey(order.swapKey)) / 1_000 - clockSlackSeconds;
	const memos: Hex[] = [];
	let before: Signature | undefined;
	for (let requests = 0; requests < mostRequests; requests++) {
		const page = await askChain(
			chainId,
			rpc
				.getSignaturesForAddress(fromSolanaWord(order.wallet), {
					commitment: "confirmed",
					limit: signaturesPerRequest,
					...(before ? { before } : {}),
				})
				.send(),
		);
		const withMemo = page.filter(({ err, memo }) => err === null && memo?.includes(id));
		memos.push(
			...withMemo.map(({ signature }) => bytesToHex(new Uint8Array(getBase58Encoder().encode(signature)))),
		);
		const last = page.at(-1);
		const isBeforeQuote = last?.blockTime != null && Number(last.blockTime) < sinceSeconds;
		if (page.length < signaturesPerRequest || isBeforeQuote) return { memos, isAll: true };
		before = last?.signature;
	}
	return { memos, isAll: false };
}
