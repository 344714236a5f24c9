import type { Order, QuoteRequest, SwapUuid } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { ExposureLimit, Reservation } from "../swap/facts/reservation.ts";
import type { Delivery } from "../swap/facts/swap-record.ts";
import type { DeskChain } from "./desk-chain.ts";

/** What is known of a recipient on Solana. */
export type KnownRecipient = {
	/** Whether it has an account for the output token, which we would have to make for it. */
	hasAccount: boolean;
	/** Why it cannot be paid the output token. */
	payProblem: string | undefined;
};

export type DeskQuote = {
	uuid: SwapUuid;
	order: Order;
	/** Of the origin chain: which build call comes next. */
	originKind: DeskChain["kind"];
	/** What we expect to deliver; on Solana at least, unless the recipient is known to have its account. */
	output: bigint;
	minOutput: bigint;
	/** How much of the output pays for an account of the recipient's on Solana; zero where none has to be made. */
	recipientAccountCost: bigint;
	delivery: Delivery;
	/** In thousandths of a basis point, as `reprice` needs it. */
	feeMillibps: number;
	feeBps: number;
	/** The input's value, rounded up: caps and depths go by it. */
	valueUsdCents: bigint;
	inputUsd: string;
	outputUsd: string;
	/** Signed; below zero the output is worth less. Rounded toward worse. */
	priceImpactBps: number;
	warnings: { code: string; message: string }[];
	/** As its chain writes it. */
	recipient: string;
	slippageBps: number;
	etaSeconds: number;
	summary: string;
	issuedAtMs: number;
	expiresAtMs: number;
	opExpiresAtMs: number;
};

/** What a swap takes from the vault and the ladders. On a ladder the native token counts as the wrapped one. */
export type Repriced = Reservation & {
	/** What we now expect to deliver. */
	output: bigint;
};

/** The priced part of a quote, as far as later steps need it. */
export type PricedOrder = { order: Order; delivery: Delivery };

/** Prices swaps that are delivered from the operator's own stock. */
export type Desk = {
	/** Prices a request and fixes all terms of its order. Throws an error of the catalogue where it does not offer it. */
	quote: (
		request: QuoteRequest,
		options?: { feeMillibps?: number; recipient?: KnownRecipient | undefined },
	) => DeskQuote;
	/** What a quote charges where it is not told otherwise, in thousandths of a basis point. */
	baseFeeMillibps: number;
	/** Whether the asset can be quoted now: its price and its chain's fees are fresh and certain. */
	isLive: (asset: { chainId: number; token: Hex }) => boolean;
	/**
	 * Prices the order again, at the volume that others have in flight on its two ladders. Never more than was quoted;
	 * undefined where it would be below the order's minimum, or cannot be priced now. `hasAccount`: whether the recipient
	 * has its token account on Solana. Unless told, it is taken to have one where the quote counted on that: whoever pays
	 * looks again.
	 */
	reprice: (
		priced: PricedOrder & { feeMillibps: number; hasAccount?: boolean | undefined },
		inFlight: { sell: bigint; buy: bigint },
	) => Repriced | undefined;
	/** Whether the order can be priced now at all: prices are fresh and certain. */
	isPriceable: (order: Order) => boolean;
	/** What the order's input is worth now, rounded up; undefined where it cannot be priced. */
	valueUsdCents: (order: Order) => bigint | undefined;
	/** What gas cost, in the chain's smallest unit, by its newest price, rounded up. */
	gasUsdCents: (spent: { chainId: number; wei: bigint }) => bigint;
	/** What a unit of gas costs on an EVM chain now, in its smallest unit; zero where no price is known. */
	feePerGas: (chainId: number) => bigint;
	/**
	 * What an amount is worth in USD, with 18 decimals, by its feed's newest price, however old that is. Undefined where no
	 * price was seen since this process began.
	 */
	worthE18: (asset: { chainId: bigint; token: Hex; amount: bigint }) => bigint | undefined;
	/** The most of the order's input that the vault may hold, where it is limited. Only where the order is priceable. */
	exposureLimit: (order: Order) => ExposureLimit | undefined;
	/**
	 * The ladders that the swap puts volume on: what it sells, what it buys, and the wrapped native token's where that may
	 * be bought on the way. Where feeds alone give the price, volume moves none; what is sold there counts all the same,
	 * since the vault takes in only so much of it.
	 */
	volumes: (priced: PricedOrder) => Reservation["volumes"];
	/**
	 * The least that a fill must deliver now: the order's minimum, or near the fresh price where that asks for more.
	 * `inFlight` was spent on the same token just before.
	 */
	freshMinimum: (priced: PricedOrder & { inFlight?: bigint }) => bigint;
	/**
	 * The delivery as it may be signed now: never more than was promised, and never more than the input is worth now less
	 * the option. Whoever can refuse a delivery until it is signed gains nothing by waiting how prices move.
	 */
	deliveryNow: (priced: PricedOrder) => Delivery | "below-minimum" | "no-price";
};
