import type { Call, Order, QuoteRequest, SwapUuid } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { ExposureLimit, Reservation } from "../store/submit-swap.ts";
import type { Delivery } from "../store/swap-record.ts";
import type { DeskChain } from "./desk-chain.ts";

/** Whoever can carry out a swap: prices a request, gives the origin calls, says how the outcome is learned. */
type Venue = {
	/** Prices a request and fixes all terms of its order. Throws an error of the catalogue where it does not offer it. */
	quote: (request: QuoteRequest, options?: { feeCentibps?: number }) => DeskQuote;
	/** What the wallet calls on an EVM chain to commit its input. On Solana it signs the order's one transaction. */
	originCalls: (options: { order: Order; allowance: bigint }) => Call[];
	/** Where the outcome is read: here from the events that escrow and vault emit under the order's id. */
	outcome: "order-events";
};

export type DeskQuote = {
	uuid: SwapUuid;
	order: Order;
	/** Of the origin chain: which build call comes next. */
	originKind: DeskChain["kind"];
	/** What we expect to deliver; on Solana at least, as if the recipient needed an account. */
	output: bigint;
	minOutput: bigint;
	delivery: Delivery;
	/** In hundredths of a basis point, as `reprice` needs it. */
	feeCentibps: number;
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

/** The venue that delivers from the operator's own stock. */
export type Desk = Venue & {
	/** What a quote charges where it is not told otherwise, in hundredths of a basis point. */
	baseFeeCentibps: number;
	/** Whether the asset can be quoted now: its price and its chain's fees are fresh and certain. */
	isLive: (asset: { chainId: number; token: Hex }) => boolean;
	/**
	 * Prices the order again, at the volume that others have in flight on its two ladders. Never more than was quoted;
	 * undefined where it would be below the order's minimum, or cannot be priced now.
	 */
	reprice: (
		priced: PricedOrder & { feeCentibps: number },
		inFlight: { sell: bigint; buy: bigint },
	) => Repriced | undefined;
	/** Whether the order can be priced now at all: prices are fresh and certain. */
	isPriceable: (order: Order) => boolean;
	/** What gas cost, in the chain's smallest unit, by its newest price, rounded up. */
	gasUsdCents: (spent: { chainId: number; wei: bigint }) => bigint;
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
};
