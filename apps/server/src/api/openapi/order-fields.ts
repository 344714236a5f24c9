import type { OrderJson } from "@geoswap/protocol";
import * as z from "zod";

const word = z.string().regex(/^0x[0-9a-f]{64}$/);
const number = z.string().regex(/^(0|[1-9]\d{0,77})$/);

/** The fifteen fields of an order in answers. Numbers are decimal strings, words are hex. */
export const orderFieldsSchema = z
	.object({
		wallet: word.describe("Who gives the input, and gets it back if the order is refunded."),
		inputToken: word.describe("The token that is given."),
		inputAmount: number.describe("How much of it, in its smallest unit."),
		originChainId: number.describe("The chain that the input is on."),
		destinationChainId: number.describe("The chain that the output is delivered on."),
		outputToken: word.describe("The token that is delivered."),
		minOutput: number.describe("The minimum delivery. If less could be delivered, the input is refunded."),
		recipient: word.describe("Who gets the output."),
		topUp: number.describe(
			"How much of the destination chain's native token the recipient gets besides, in its smallest unit.",
		),
		escrow: word.describe("Who holds the input until the order is decided."),
		originVault: word.describe("Who gets the input once the output is delivered."),
		destinationVault: word.describe("Who pays the output."),
		attesterSet: word.describe("The hash of the attester set that attests the delivery."),
		swapKey: word.describe("The swap's id, as a number."),
		deadlines: number.describe("Open deadline, fill deadline and refund time, packed."),
	} satisfies { [Field in keyof OrderJson]: z.ZodType<string> })
	.describe("The order's terms: input, output and deadlines. An address is 32 bytes here.");
