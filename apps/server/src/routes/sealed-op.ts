import type { Authorization, UserOpGas } from "@geoswap/protocol";
import type { Address } from "viem";
import type { SealedQuote } from "../venue/sealed-quote.ts";

/** What an op token holds: the quote, and whatever else geoOpHash is made of. */
export type SealedOp = {
	quote: SealedQuote;
	delegate: Address;
	allowance: bigint;
	gas: UserOpGas;
	/** Absent where the wallet was delegated when the op was built. */
	authorization?: Authorization;
};
