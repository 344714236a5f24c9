import type { Amount, Milliseconds, OrderJson, SwapUuid, UsdCents } from "@geoswap/protocol";
import { orderToJson } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { TransactionShape } from "../chain/evm/fee/fee-model.ts";
import type { NativeRecipient } from "../chain/evm/wallet/read-wallet.ts";
import type { Delivery } from "../swap/facts/swap-record.ts";
import type { DeskQuote } from "./desk.ts";

/** The parts of a mandate that later steps need, and the gas and bytes that it adds to the transaction of an open. */
export type SealedMandate = TransactionShape & {
	digest: Hex;
	epoch: bigint;
	period: number;
	/** The cap on the order's input token, and the storage slot in which the wallet's account counts its use. */
	maxAmount: Amount;
	useSlot: Hex;
};

/** The content of a quote token: all terms of the swap, so that no later step has to store the quote. */
export type SealedQuote = {
	uuid: SwapUuid;
	order: OrderJson;
	output: Amount;
	delivery: Delivery;
	feeMillibps: number;
	networkCost: Amount;
	/** Absent if the output is not an EVM chain's native token, or its recipient was not known. */
	nativeRecipient?: NativeRecipient;
	/** The mandate within which an agent will sign the order. */
	mandate?: SealedMandate;
	valueUsdCents: UsdCents;
	issuedAtMs: Milliseconds;
	/** The deadline for a build. */
	expiresAtMs: Milliseconds;
	/** The deadline for a first submit, of any build. */
	opExpiresAtMs: Milliseconds;
};

export function sealedQuote(quote: DeskQuote): SealedQuote {
	return {
		uuid: quote.uuid,
		order: orderToJson(quote.order),
		output: quote.output,
		delivery: quote.delivery,
		feeMillibps: quote.feeMillibps,
		networkCost: quote.networkCost,
		...(quote.nativeRecipient && { nativeRecipient: quote.nativeRecipient }),
		valueUsdCents: quote.valueUsdCents,
		issuedAtMs: quote.issuedAtMs,
		expiresAtMs: quote.expiresAtMs,
		opExpiresAtMs: quote.opExpiresAtMs,
	};
}
