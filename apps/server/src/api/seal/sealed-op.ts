import type { Authorization, Milliseconds, OrderMessageParts } from "@geoswap/protocol";
import type { Address } from "viem";
import type { SealedQuote } from "../../desk/sealed-quote.ts";

/** The content of an op token: the quote, and what else is needed to open its order. */
export type SealedOp = {
	quote: SealedQuote;
	delegate: Address;
	/** The maximum of gas that opening the order may use. */
	gas: bigint;
	/** Absent if the wallet was already delegated when the op was built. */
	authorization?: Authorization;
};

/** The same for a Solana origin: the quote, and everything else that the transaction is made of. */
export type SealedSolanaOp = OrderMessageParts & {
	quote: SealedQuote;
	/** The last block height at which it can land. */
	lastValidBlockHeight: bigint;
	/** The deadline for a first submit: until then its blockhash is certainly valid. */
	expiresAtMs: Milliseconds;
};
