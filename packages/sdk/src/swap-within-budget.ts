import type { BudgetLedger, BudgetTerms, Reservation } from "./budget-ledger.ts";
import type { Client } from "./create-client.ts";
import { signerOf } from "./evm-signer.ts";
import { isSame } from "./expect-same.ts";
import { GeoswapError } from "./geoswap-error.ts";
import type { OriginSigner } from "./origin-signer.ts";
import { swap } from "./swap.ts";
import { getSwapState } from "./swap-record.ts";
import type { SwapRequest } from "./swap-request.ts";
import type { SwapStore } from "./swap-store.ts";
import type { EndedSwap } from "./wait-for-swap.ts";

type WithoutApproval<Request> = Request extends unknown ? Omit<Request, "onBeforeSign"> : never;

/** A swap with complete terms, because a budget cannot allow terms that are left open. */
export type BudgetedSwap = WithoutApproval<SwapRequest> & {
	id: string;
	store: SwapStore;
	minOutput: bigint;
	recipient: string;
	/** Called before each signature, before the amount is reserved. If it throws, nothing is signed. */
	beforeSign?: () => void | Promise<void>;
};

/**
 * Swaps as `swap()` does, within a budget. The amount is reserved durably before the wallet signs anything. The
 * reservation is removed only if nothing was taken, because nothing that was signed can be executed any more, or
 * because the swap has ended with the whole input back in the wallet.
 */
export async function swapWithinBudget(
	client: Client,
	ledger: BudgetLedger,
	{ beforeSign, delegate, ...request }: BudgetedSwap,
): Promise<EndedSwap> {
	const { id, store } = request;
	// An earlier process may have reserved the amount.
	let reservation = (await ledger.list()).find((entry) => entry.id === id);
	const giveBack = async (made: Reservation | undefined) => {
		// If the reservation cannot be removed, it counts until its 24 hours are over. The swap's outcome is the same.
		if (made) await ledger.release(made).catch(() => {});
	};
	const signer = signerOf({ signer: request.signer, delegate });
	const guarded: OriginSigner = {
		...signer,
		sign: async (...call) => {
			await beforeSign?.();
			reservation = await ledger.reserve(termsOf(request));
			return signer.sign(...call);
		},
	};
	try {
		const ended = await swap(client, { ...request, signer: guarded });
		if (isWholeInputBack(ended, request)) await giveBack(reservation);
		return ended;
	} catch (error) {
		const isOver = error instanceof GeoswapError && error.mayExecute === false;
		if (isOver && (await hasNothingAlive(store, id))) await giveBack(reservation);
		throw error;
	}
}

function termsOf({
	id,
	originChain,
	destinationChain,
	inputToken,
	outputToken,
	minOutput,
	recipient,
	...amounts
}: BudgetedSwap): BudgetTerms {
	const amount = amounts.amount ?? amounts.maxInput;
	return { id, originChain, destinationChain, inputToken, outputToken, amount, minOutput, recipient };
}

/** Both the error and the record must confirm it, because a later call relies on the record. */
async function hasNothingAlive(store: SwapStore, id: string): Promise<boolean> {
	const { state } = await getSwapState(store, id).catch(() => ({ state: "signed" }));
	return state === "none" || state === "open";
}

function isWholeInputBack(
	{ status, funds, terms }: EndedSwap,
	{ originChain, inputToken, amount = terms?.amount }: BudgetedSwap,
): boolean {
	return (
		status !== "settled" &&
		funds?.holder === "wallet" &&
		funds.chainId === originChain &&
		isSame(inputToken, funds.token) &&
		funds.amount === amount
	);
}
