import { contractAddressSchema, type Order, orderSchema } from "@geoswap/protocol";
import { type Hex, isHex } from "viem";
import * as z from "zod";
import type { EvmPayload } from "./signer.ts";

const hexSchema = z
	.string()
	.refine((text) => isHex(text) && text.length % 2 === 0, "must be bytes in hex")
	.transform((text) => text as Hex);

const amountSchema = z.string().regex(/^(0|[1-9]\d{0,77})$/);

/** A payload as it is sent to the signer. It has everything that is signed, never only a hash of it. */
export const payloadSchema = z.discriminatedUnion("kind", [
	z.strictObject({ kind: z.literal("transaction"), unsigned: hexSchema }),
	z.strictObject({
		kind: z.literal("attestation"),
		message: z.strictObject({
			kind: z.enum(["Release", "Refund"]),
			originChainId: z.int().positive(),
			// A contract's address, or the 32 bytes of Solana's program.
			escrow: z.union([
				contractAddressSchema,
				z
					.string()
					.regex(/^0x[0-9a-f]{64}$/)
					.transform((text) => text as Hex),
			]),
			orderIds: z
				.array(
					z
						.string()
						.regex(/^0x[0-9a-f]{64}$/i)
						.transform((text) => text as Hex),
				)
				.min(1),
		}),
	}),
	z.strictObject({
		kind: z.literal("heartbeat"),
		message: z.strictObject({
			chainId: z.int().positive(),
			finalizedNumber: z.int().nonnegative(),
			signedAtUnixSeconds: z.int().nonnegative(),
		}),
	}),
	z.strictObject({
		kind: z.literal("receipt"),
		message: z.strictObject({
			swapId: z.string(),
			status: z.string(),
			orderId: z
				.string()
				.regex(/^0x[0-9a-f]{64}$/)
				.transform((text) => text as Hex),
			output: amountSchema,
			feeBps: z.string(),
			networkCostToken: z.string(),
			networkCost: amountSchema,
			deliveredAmount: amountSchema,
			originTxHash: z.string(),
			deliveryTxHash: z.string(),
			refundTxHash: z.string(),
			quotedAt: z.string(),
			createdAt: z.string(),
			endedAt: z.string(),
		}),
	}),
	z.strictObject({
		kind: z.literal("message"),
		/** The message of a Solana transaction. */
		message: z.base64(),
		/** The order that a release or a refund ends. The message has only its address. The signer compares them. */
		order: orderSchema.exactOptional(),
	}),
]);
export type Payload = EvmPayload | { kind: "message"; message: string; order?: Order };

/** A signature in the signer's response. */
export const signatureSchema = z.union([
	z.strictObject({
		r: hexSchema,
		s: hexSchema,
		yParity: z.union([z.literal(0), z.literal(1)]),
	}),
	/** The 64 bytes of a Solana signature. */
	z.base64(),
]);
export type WireSignature = z.output<typeof signatureSchema>;

/** The keys that a client may use, as `GET /keys` returns them. */
export const keysAnswerSchema = z.array(
	z.object({ name: z.string(), kind: z.enum(["evm", "solana"]), address: z.string() }),
);

/** The reason of a refusal that applies to all payloads of the key, and to no other key. */
export const keyAboveCap = "key-above-cap";

/** The body of any response other than 200. */
export const problemSchema = z.object({ reason: z.string(), message: z.string() });
