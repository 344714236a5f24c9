import { type Hash, isHash } from "viem";
import * as z from "zod";

export const hashSchema = z
	.string()
	.refine((text) => isHash(text), "not a 32-byte hash")
	.transform((text) => text as Hash);
