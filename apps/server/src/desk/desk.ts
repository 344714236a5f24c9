import type {
	Amount,
	Milliseconds,
	Order,
	QuoteRequest,
	Seconds,
	SwapUuid,
	UsdCents,
	Wei,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { TransactionShape } from "../chain/evm/fee/fee-model.ts";
import type { NativeRecipient } from "../chain/evm/wallet/read-wallet.ts";
import type { HoldingLimit, Reservation } from "../swap/facts/reservation.ts";
import type { Delivery } from "../swap/facts/swap-record.ts";
import type { DeskChain } from "./desk-chain.ts";
import type { PriceStop } from "./price/price-stop.ts";

/** Facts about a recipient. */
export type KnownRecipient = {
	/** True if it has an account for the output token on Solana. Otherwise the service would have to create one. */
	hasAccount: boolean;
	/** Present if it gets an EVM chain's native token, as the output or as a top-up. */
	native?: NativeRecipient;
	/** The reason why it cannot be paid the output token. */
	payProblem: string | undefined;
	/** The reason why it cannot be paid a top-up. */
	topUpProblem?: string | undefined;
};

export type DeskQuote = {
	uuid: SwapUuid;
	order: Order;
	/** The kind of the origin chain, which determines the next build call. */
	originKind: DeskChain["kind"];
	/** The exact input. */
	amount: Amount;
	/** The expected output. On Solana it is a minimum, unless the recipient is known to have its account. */
	output: Amount;
	minOutput: Amount;
	/** The value of the order's top-up. */
	topUpUsd: string;
	/** The part of the output that pays for the recipient's account on Solana. Zero if none must be created. */
	recipientAccountCost: bigint;
	delivery: Delivery;
	/**
	 * The charge for the transactions of the swap and its top-up, in the destination's settlement token. It is part of
	 * the price.
	 */
	networkCost: Amount;
	/** The recipient of an EVM chain's native token that the charge is based on, if it was known. */
	nativeRecipient: NativeRecipient | undefined;
	/** The fee in thousandths of a basis point, as `reprice` needs it. */
	feeMillibps: number;
	feeBps: number;
	/** What inventory added to the price, in hundredths of a basis point. Negative if it was a discount. */
	skewCentibps: number;
	/** The input's value, rounded up. It determines caps and confirmation depths. */
	valueUsdCents: UsdCents;
	inputUsd: string;
	outputUsd: string;
	/** Negative if the output is worth less than the input. Rounded toward worse. */
	priceImpactBps: number;
	warnings: { code: string; message: string }[];
	/** The recipient in its chain's own notation. */
	recipient: string;
	slippageBps: number;
	etaSeconds: Seconds;
	summary: string;
	issuedAtMs: Milliseconds;
	expiresAtMs: Milliseconds;
	opExpiresAtMs: Milliseconds;
};

/** The amounts a swap takes from the vault and the ladders. On a ladder the native token counts as the wrapped one. */
export type Repriced = Reservation & {
	/** The output that is now expected. */
	output: Amount;
};

/** The priced part of a quote that later steps need. */
export type PricedOrder = { order: Order; delivery: Delivery };

/** Prices swaps that are delivered from the operator's own inventory. */
export type Desk = {
	/** Prices a request and fixes all terms of its order. Throws an error of the catalogue if the swap is not offered. */
	quote: (
		request: QuoteRequest,
		options?: {
			feeMillibps?: number;
			recipient?: KnownRecipient | undefined;
			/** True if the wallet is known to be delegated on the origin chain, which makes the open cheaper. */
			isDelegated?: boolean | undefined;
			/** The gas and bytes that a mandate adds to an open. Absent if the wallet itself will sign the order. */
			mandate?: TransactionShape | undefined;
			/** The account of the request. Without it, chains that only some accounts may use are not offered. */
			accountId?: string;
		},
	) => DeskQuote;
	/** The default fee of a quote, in thousandths of a basis point. */
	baseFeeMillibps: number;
	/** True if the asset can be quoted now, so its price and its chain's fees are fresh and certain. */
	isLive: (asset: { chainId: number; token: Hex }) => boolean;
	/** Returns why the asset cannot be quoted now, or undefined if it can, or if it is not offered. */
	stopOf: (asset: { chainId: number; token: Hex }) => PriceStop | undefined;
	/**
	 * Prices the order again, given the volume that other swaps have in flight on its two ladders. Never returns more
	 * than was quoted, and undefined if the result is below the order's minimum or cannot be priced now. `hasAccount`
	 * is whether the recipient has its token account on Solana. If it is absent, the recipient is assumed to have one
	 * if the quote relied on that, because the payer checks again. `networkCost` is the quote's charge, which stays
	 * unless the transactions would now cost more. If it is absent, the transactions are charged for at the current
	 * fees.
	 */
	reprice: (
		priced: PricedOrder & {
			feeMillibps: number;
			hasAccount?: boolean | undefined;
			networkCost?: Amount | undefined;
			/** As in the quote; 0 if absent. */
			skewCentibps?: number | undefined;
			/** True if the op needs no authorization. */
			isDelegated?: boolean | undefined;
			/** As in the quote. */
			mandate?: TransactionShape | undefined;
			/** As in the quote. If absent, only the quote's own charge covers what a recipient may use. */
			nativeRecipient?: NativeRecipient | undefined;
		},
		inFlight: { sell: bigint; buy: bigint },
	) => Repriced | undefined;
	/** True if the order can be priced now, so prices are fresh and certain. */
	isPriceable: (order: Order) => boolean;
	/** Returns the current value of the order's input, rounded up, or undefined if it cannot be priced. */
	valueUsdCents: (order: Order) => bigint | undefined;
	/** Converts a cost of gas, in the chain's smallest unit, at the newest price, rounded up. */
	gasUsdCents: (spent: { chainId: number; wei: Wei }) => bigint;
	/**
	 * Returns what that much gas may cost on an EVM chain now, with the fees of the chain below it, estimated
	 * generously. Zero if no price is known.
	 */
	gasWei: (spent: { chainId: number; gas: bigint }) => Wei;
	/** Returns the tip per unit of gas that recent blocks took, or undefined if not known yet. */
	tipNow: (chainId: number) => Wei | undefined;
	/**
	 * Returns the value of an amount in USD, with 18 decimals, at its feed's newest price of any age. Undefined if this
	 * process has read no price since it started.
	 */
	worthE18: (asset: { chainId: bigint; token: Hex; amount: Amount }) => bigint | undefined;
	/** Returns how much of the order's input token the vault may hold, if limited. The order must be priceable. */
	holdingLimit: (order: Order) => HoldingLimit | undefined;
	/**
	 * Returns the ladders to which the swap adds volume: the token it sells, the one it buys, and the wrapped native
	 * token if the route may buy it on the way. Where feeds alone give the price, volume does not move it. A sale there
	 * counts all the same, since the vault accepts only a limited amount.
	 */
	volumes: (priced: PricedOrder) => Reservation["volumes"];
	/**
	 * Returns the minimum that a fill must deliver now: the order's minimum, or more if the fresh price less a
	 * tolerance is higher. `inFlight` was spent on the same token just before.
	 */
	freshMinimum: (priced: PricedOrder & { inFlight?: Amount }) => bigint;
	/**
	 * Returns the delivery that may be signed now. It is at most the promised one, and at most the input's current
	 * value less the option. So a recipient who can refuse a delivery until it is signed gains nothing by waiting for
	 * prices to move.
	 */
	deliveryNow: (priced: PricedOrder) => Delivery | "below-minimum" | "no-price";
};
