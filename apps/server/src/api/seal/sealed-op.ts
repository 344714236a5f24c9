import type { Authorization, OrderMessageParts, UserOpGas } from "@geoswap/protocol";
import type { Address } from "viem";
import type { SealedQuote } from "../../desk/sealed-quote.ts";

/** What an op token holds: the quote, and whatever else geoOpHash is made of. */
export type SealedOp = {
	quote: SealedQuote;
	delegate: Address;
	allowance: bigint;
	gas: UserOpGas;
	/** Absent where the wallet was delegated when the op was built. */
	authorization?: Authorization;
};

/** The same for a Solana origin: the quote, and whatever else the transaction is made of. */
export type SealedSolanaOp = OrderMessageParts & {
	quote: SealedQuote;
	/** The last height at which it can land. */
	lastValidBlockHeight: bigint;
	/** The last moment for a first submit: until then its blockhash surely lives. */
	expiresAtMs: number;
};
