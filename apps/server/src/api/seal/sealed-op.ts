import type { Authorization, Milliseconds, OrderMessageParts } from "@geoswap/protocol";
import type { Address } from "viem";
import type { SealedQuote } from "../../desk/sealed-quote.ts";

/** The content of an op token: the quote, and everything else that is needed to open its order. */
export type SealedOp = {
	quote: SealedQuote;
	delegate: Address;
	/** The maximum gas for opening the order. */
	gas: bigint;
	/** Absent if the wallet was already delegated when the op was built. */
	authorization?: Authorization;
};

/** The same for a Solana origin: the quote, and all other parts of the transaction. */
export type SealedSolanaOp = OrderMessageParts & {
	quote: SealedQuote;
	/** The last block height at which the transaction can land. */
	lastValidBlockHeight: bigint;
	/** The deadline for a first submit. Until then its blockhash is certainly valid. */
	expiresAtMs: Milliseconds;
};
