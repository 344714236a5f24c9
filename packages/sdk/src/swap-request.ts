import type { AuthorizationBody, Deployment, MandateJson } from "@geoswap/protocol";
import type { WalletClient } from "viem";
import type { EvmAccount } from "./evm-account.ts";
import type { EvmSignerOptions } from "./evm-signer.ts";
import type { GeoswapError } from "./geoswap-error.ts";
import type { Quote } from "./get-quote.ts";
import type { Swap } from "./get-status.ts";
import type { OriginSigner } from "./origin-signer.ts";
import type { SwapStore } from "./swap-store.ts";

/** An intent, with the callbacks that approve its price and report its progress. */
export type SwapRequest = SwapFields &
	(
		| {
				/**
				 * Identifies the intent. A call with the same id and store, after a crash or an abort, continues where the last
				 * one stopped, so one id becomes at most one swap. Without an id nothing is resumed.
				 */
				id: string;
				/** Remembers the intent. */
				store: SwapStore;
		  }
		| { id?: undefined; store?: SwapStore }
	) &
	SwapAmounts;

type SwapAmounts =
	| {
			/** The exact input, in the smallest unit. */
			amount: bigint;
			outputAmount?: undefined;
			maxInput?: undefined;
	  }
	| {
			amount?: undefined;
			/** The least that the recipient is to get, in the smallest unit. The wallet gives as little as that takes. */
			outputAmount: bigint;
			/** The maximum that the wallet gives, for all quotes of the intent. */
			maxInput: bigint;
	  };

type SwapFields = {
	originChain: number;
	destinationChain: number;
	/** Addresses, as their chains write them. */
	inputToken: string;
	outputToken: string;
	/** Required if origin and destination write addresses differently. */
	recipient?: string;
	slippageBps?: number;
	/**
	 * Native token of the destination chain that the recipient gets in addition to the output, for its gas, in its
	 * smallest unit. Its price is deducted from the output. The recipient may be a contract that refuses it, and then
	 * goes without.
	 */
	topUp?: bigint;
	/** In place of `topUp`: its value in USD, such as `"0.50"`. The service converts it. */
	topUpUsd?: string;
	/**
	 * The minimum output to sign for, in the smallest unit, for all quotes of the intent. By default, it is 97 % of the
	 * input, less `topUpUsd`, if the pins list both tokens as stables; any other minimum is signed only if `onBeforeSign`
	 * approves it. A call that resumes an intent without it uses the earlier one. What is already signed stays signed.
	 */
	minOutput?: bigint;
	/**
	 * Called before anything is signed. Return true to approve the terms. It may take any time. If the quote has expired
	 * by then, another quote that keeps the approved terms is signed, and this is called again only if no quote keeps
	 * them. Without it, a quote whose minimum neither `minOutput` nor the pins bound is refused with
	 * `PRICE_NOT_ACCEPTED`.
	 */
	onBeforeSign?: (terms: SwapTerms) => boolean | Promise<boolean>;
	/** An account or wallet client of viem, an object of the same form, or the result of `solanaSigner()`. */
	signer: EvmAccount | WalletClient | OriginSigner;
	/** By default, an EVM wallet keeps its delegate. For `typed-only`, see `evmSigner`, which has the same option. */
	delegate?: EvmSignerOptions["delegate"];
	/** The owner's mandate, from `createMandate`, if the signer is an agent's key. The mandate's wallet pays. */
	mandate?: MandateJson;
	/** The owner's authorization, with a mandate for a wallet that is not delegated yet. See `evmSigner`. */
	authorization?: AuthorizationBody;
	/** The deployment. Take it from a file that you trust, not from the service. */
	pins: Deployment;
	onProgress?: (progress: SwapProgress) => void;
	/** Aborts the wait, never the swap. */
	signal?: AbortSignal;
};

/** The terms to sign for. The wallet gives at most `amount`, and `recipient` gets at least `minOutput`. */
export type SwapTerms = Pick<
	SwapRequest,
	"originChain" | "destinationChain" | "inputToken" | "outputToken"
> & {
	amount: bigint;
	walletAddress: string;
	recipient: string;
	minOutput: bigint;
	/** The native token that the recipient gets in addition to the output. */
	topUp: bigint;
	/** The quote that has these terms. */
	quote: Quote;
};

export type SwapProgress =
	| { step: "resumed"; swapId: string }
	| { step: "quoted"; quote: Quote }
	/** The wallet is about to sign a delegation, for its first swap from this chain or to change its delegate. */
	| { step: "authorizing" }
	| { step: "signed"; swapId: string; expiresAt: string }
	/** The service refuses the submission for now. It is sent again until it is accepted, or cannot be any more. */
	| { step: "refused"; error: GeoswapError; expiresAt: string }
	/**
	 * The service reports that the submission has expired, or that the swap failed or was refunded. This is not trusted
	 * until no chain executes the submission any more. Until then nothing else is signed, and no such end is returned.
	 */
	| { step: "waiting"; swapId: string; until: string }
	| { step: "submitted"; swapId: string }
	/** Reported whenever something about the swap has changed. */
	| { step: "status"; swap: Swap };
