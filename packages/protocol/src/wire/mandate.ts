import { getAddress, type Hex } from "viem";
import * as z from "zod";
import { maxMandateEntries, type SignedMandate } from "../mandate.ts";
import { chainIdSchema } from "./fields.ts";

const wordSchema = z
	.string()
	.regex(/^0x[0-9a-f]{64}$/i, "not 32 bytes of hex")
	.transform((text) => text.toLowerCase() as Hex);
/** Hex in any case. The owner's signature is over the address, so a mistake in it makes the signature wrong. */
const addressSchema = z
	.string()
	.regex(/^0x[0-9a-f]{40}$/i, "not an address")
	.transform((text) => getAddress(text));
const secondsSchema = z.int().nonnegative();

/** An owner's signed mandate, with the chain and escrow that it was signed for. */
export const signedMandateSchema = z
	.strictObject({
		chainId: chainIdSchema.describe("The chain that the mandate is good on."),
		escrow: addressSchema.describe("The escrow of that chain."),
		wallet: addressSchema.describe("The wallet that pays, whose owner signed the mandate."),
		agent: addressSchema.describe("The address of the key that may sign orders."),
		epoch: secondsSchema.describe("The wallet's epoch. Revoking all mandates raises it."),
		// The last second that a JavaScript date can hold.
		expiry: secondsSchema
			.max(8_640_000_000_000)
			.describe("The first second in which it is no longer good, in Unix time."),
		period: z
			.int()
			.max(2 ** 32 - 1)
			.describe("The seconds in which a used cap becomes free again."),
		originVault: addressSchema.describe("The vault of this service on that chain."),
		attesterSet: wordSchema.describe("The attesters of this service."),
		inputs: z
			.array(
				z.strictObject({
					token: addressSchema.describe("The token's address; zero is the native token."),
					maxAmount: z
						.string()
						// The account counts in 128 bits, which hold every number of 38 digits.
						.regex(/^(0|[1-9]\d{0,37})$/, "not a whole number of at most 38 digits")
						.transform((text) => BigInt(text))
						.describe("What may leave immediately, and again in each period, in the smallest unit."),
				}),
			)
			.max(maxMandateEntries)
			.describe("The tokens that may be given."),
		outputs: z
			.array(
				z.strictObject({
					chainId: chainIdSchema.describe("The destination chain."),
					token: wordSchema.describe("The token's address as a 32-byte word."),
				}),
			)
			.max(maxMandateEntries)
			.describe("The tokens that may be bought. Empty is any."),
		recipients: z
			.array(wordSchema)
			.max(maxMandateEntries)
			.describe("Who may get the output beside the wallet, as 32-byte words."),
		signature: z
			.string()
			.regex(/^0x[0-9a-f]{130}$/i, "not 65 bytes of hex")
			.transform((text) => text.toLowerCase() as Hex)
			.describe("The owner's EIP-712 signature."),
	})
	.transform(({ chainId, escrow, signature, ...mandate }): SignedMandate => {
		const { epoch, expiry, outputs } = mandate;
		return {
			chainId,
			escrow,
			signature,
			mandate: {
				...mandate,
				epoch: BigInt(epoch),
				expiry: BigInt(expiry),
				outputs: outputs.map((one) => ({ ...one, chainId: BigInt(one.chainId) })),
			},
		};
	});

/** A signed mandate as JSON, as it is kept in a file and sent with a quote and a submit. */
export type MandateJson = {
	chainId: number;
	escrow: string;
	wallet: string;
	agent: string;
	epoch: number;
	expiry: number;
	period: number;
	originVault: string;
	attesterSet: string;
	inputs: { token: string; maxAmount: string }[];
	outputs: { chainId: number; token: string }[];
	recipients: string[];
	signature: string;
};

export function mandateToJson({ chainId, escrow, mandate, signature }: SignedMandate): MandateJson {
	const { epoch, expiry, inputs, outputs, recipients, ...fields } = mandate;
	return {
		chainId,
		escrow,
		...fields,
		epoch: Number(epoch),
		expiry: Number(expiry),
		inputs: inputs.map(({ token, maxAmount }) => ({ token, maxAmount: String(maxAmount) })),
		outputs: outputs.map((one) => ({ ...one, chainId: Number(one.chainId) })),
		recipients: [...recipients],
		signature,
	};
}
