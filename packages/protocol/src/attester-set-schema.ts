import type { Hash } from "viem";
import * as z from "zod";
import { type AttesterSet, attesterSetHash } from "./attester-set.ts";
import { evmAddressSchema } from "./contract-address.ts";
import { hashSchema } from "./hash-schema.ts";

const fields = { threshold: z.int().positive(), attesters: z.array(evmAddressSchema).min(1) };

export const attesterSetSchema = z.strictObject(fields).superRefine(refuseInvalid);

/** A set with the hash that orders carry. The hash is redundant, so that a reader can check its own computation. */
export const hashedAttesterSetSchema = z
	.strictObject({ ...fields, hash: hashSchema })
	.superRefine(refuseInvalid);

function refuseInvalid({ hash, ...set }: AttesterSet & { hash?: Hash }, context: z.RefinementCtx): void {
	try {
		const computed = attesterSetHash(set);
		if (hash === undefined || hash === computed) return;
		context.addIssue(`hash is ${hash}, but the set's hash is ${computed}`);
	} catch (error) {
		context.addIssue((error as Error).message);
	}
}
