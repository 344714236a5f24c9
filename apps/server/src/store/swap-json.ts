import { type Address, getAddress, type Hex } from "viem";
import * as z from "zod";
import type { Delivery, SignedOp } from "./swap-record.ts";

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
	z.strictObject({ kind: z.literal("stock"), amount: uintSchema }),
	z.strictObject({ kind: z.literal("router"), budget: uintSchema, fees: z.array(z.int()) }),
]);

const signedOpSchema = z.strictObject({
	delegate: addressSchema,
	allowance: uintSchema,
	gas: z.strictObject({ verificationGasLimit: uintSchema, callGasLimit: uintSchema }),
	signature: hexSchema,
	authorization: z
		.strictObject({
			chainId: z.int(),
			address: addressSchema,
			nonce: z.int(),
			yParity: z.int(),
			r: hexSchema,
			s: hexSchema,
		})
		.exactOptional(),
});

export type DeliveryJson = z.input<typeof deliverySchema>;
export type SignedOpJson = z.input<typeof signedOpSchema>;

/** As the `delivery` column and a fill's payload hold it: amounts are decimal strings. */
export function deliveryToJson(delivery: Delivery): DeliveryJson {
	return delivery.kind === "stock"
		? { kind: "stock", amount: String(delivery.amount) }
		: { kind: "router", budget: String(delivery.budget), fees: delivery.fees };
}

export function deliveryFromJson(json: unknown): Delivery {
	return deliverySchema.parse(json);
}

/** As the `op` column and an open's payload hold it. */
export function signedOpToJson(op: SignedOp): SignedOpJson {
	return {
		...op,
		allowance: String(op.allowance),
		gas: {
			verificationGasLimit: String(op.gas.verificationGasLimit),
			callGasLimit: String(op.gas.callGasLimit),
		},
	};
}

export function signedOpFromJson(json: unknown): SignedOp {
	return signedOpSchema.parse(json);
}
