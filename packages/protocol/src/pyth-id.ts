import type { Hash } from "viem";
import * as z from "zod";

/** The id of a price at Pyth, the same on every chain. */
export const pythIdSchema = z
	.string()
	.regex(/^0x[0-9a-f]{64}$/, "not an id of Pyth: 32 bytes in lower-case hex, with 0x")
	.transform((text) => text as Hash);
