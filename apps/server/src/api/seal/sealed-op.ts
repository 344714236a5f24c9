import type { Authorization, Milliseconds, OrderMessageParts, UserOpGas } from "@geoswap/protocol";
import type { Address } from "viem";
import type { SealedQuote } from "../../desk/sealed-quote.ts";

/** The content of an op token: the quote, and everything else that geoOpHash is made of. */
export type SealedOp = {
	quote: SealedQuote;
	delegate: Address;
	allowance: bigint;
	gas: UserOpGas;
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
