import { solanaAddressSchema } from "@geoswap/protocol";
import { type Address, getAddress, type Hex } from "viem";
import * as z from "zod";
import type { Delivery, NetworkCost, SignedOp, SignedSolanaOp } from "../facts/swap-record.ts";

const uintSchema = z
	.string()
	.regex(/^(0|[1-9]\d{0,77})$/)
	.transform((text) => BigInt(text));
const addressSchema = z.string().transform((text): Address => getAddress(text));
const hexSchema = z
	.string()
	.regex(/^0x[0-9a-fA-F]*$/)
	.transform((text) => text as Hex);

const deliverySchema = z.discriminatedUnion("kind", [
	z.strictObject({ kind: z.literal("inventory"), amount: uintSchema }),
	z.strictObject({ kind: z.literal("router"), budget: uintSchema, fees: z.array(z.int()) }),
	z.strictObject({ kind: z.literal("payout"), amount: uintSchema, unusedRent: uintSchema }),
]);

const networkCostSchema = z.strictObject({ token: hexSchema, amount: uintSchema });

const signedSolanaOpSchema = z.strictObject({
	kind: z.literal("solana"),
	feePayer: solanaAddressSchema,
	blockhash: z.string(),
	lastValidBlockHeight: uintSchema,
	compute: z.strictObject({ unitLimit: z.int(), microLamportsPerUnit: uintSchema }),
	signature: hexSchema,
});

const scalarSchema = z
	.string()
	.regex(/^0x[0-9a-fA-F]{1,64}$/)
	.transform((text) => text as Hex);

const signedEvmOpSchema = z.strictObject({
	delegate: addressSchema,
	gas: uintSchema,
	signatureKind: z.enum(["typed", "personal"]),
	signature: hexSchema,
	mandate: z.strictObject({ digest: hexSchema, encoded: hexSchema }).exactOptional(),
	authorization: z
		.strictObject({
			chainId: z.int().nonnegative(),
			address: addressSchema,
			nonce: z.int().nonnegative(),
			yParity: z.int().min(0).max(1),
			r: scalarSchema,
			s: scalarSchema,
		})
		.exactOptional(),
});

const signedOpSchema = z.union([signedEvmOpSchema, signedSolanaOpSchema]);

export type DeliveryJson = z.input<typeof deliverySchema>;
export type SignedOpJson = z.input<typeof signedOpSchema>;

/** Returns the JSON of the `delivery` column and of a fill's payload. Amounts are decimal strings. */
export function deliveryToJson(delivery: Delivery): DeliveryJson {
	switch (delivery.kind) {
		case "inventory":
			return { kind: "inventory", amount: String(delivery.amount) };
		case "router":
			return { kind: "router", budget: String(delivery.budget), fees: delivery.fees };
		case "payout":
			return {
				kind: "payout",
				amount: String(delivery.amount),
				unusedRent: String(delivery.unusedRent),
			};
	}
}

export function deliveryFromJson(json: unknown): Delivery {
	return deliverySchema.parse(json);
}

/** Returns the JSON of the `network_cost` column. */
export function networkCostToJson({ token, amount }: NetworkCost): z.input<typeof networkCostSchema> {
	return { token, amount: String(amount) };
}

export function networkCostFromJson(json: unknown): NetworkCost {
	return networkCostSchema.parse(json);
}

/** Returns the JSON of the `op` column and of an open's payload. */
export function signedOpToJson(op: SignedOp | SignedSolanaOp): SignedOpJson {
	if ("kind" in op) {
		return {
			...op,
			lastValidBlockHeight: String(op.lastValidBlockHeight),
			compute: { ...op.compute, microLamportsPerUnit: String(op.compute.microLamportsPerUnit) },
		};
	}
	return { ...op, gas: String(op.gas) };
}

export function signedOpFromJson(json: unknown): SignedOp | SignedSolanaOp {
	return signedOpSchema.parse(json);
}
