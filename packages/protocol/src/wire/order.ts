import { type Hex, isHex } from "viem";
import * as z from "zod";
import type { Order } from "../order.ts";
import type { OrderJson } from "./order-json.ts";

const wordSchema = z
	.string()
	.refine((text) => isHex(text) && text.length === 66, "not a 32-byte word")
	.transform((text) => text.toLowerCase() as Hex);
const uintSchema = z
	.string()
	.regex(/^(0|[1-9]\d{0,77})$/, "not a whole number")
	.transform((text) => BigInt(text))
	.refine((value) => value < 1n << 256n, "is above 2^256 - 1");

/**
 * An order as JSON: numbers as decimal strings, words as hex. Parsed orders are frozen, so their id is hashed only
 * once.
 */
export const orderSchema: z.ZodType<Order, OrderJson> = z
	.strictObject({
		wallet: wordSchema,
		inputToken: wordSchema,
		inputAmount: uintSchema,
		originChainId: uintSchema,
		destinationChainId: uintSchema,
		outputToken: wordSchema,
		minOutput: uintSchema,
		recipient: wordSchema,
		topUp: uintSchema,
		escrow: wordSchema,
		originVault: wordSchema,
		destinationVault: wordSchema,
		attesterSet: wordSchema,
		swapKey: wordSchema,
		deadlines: uintSchema,
	})
	.readonly();
