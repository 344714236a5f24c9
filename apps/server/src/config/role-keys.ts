import { keyReferenceSchema } from "@geoswap/keys/config/key-reference";
import { keySettingsSchema } from "@geoswap/keys/config/key-settings";
import * as z from "zod";

/** The keys of a worker. Absent ones are read from the environment's variables of that purpose. */
export const workerKeysSchema = keySettingsSchema.extend({
	/** The relayers' keys, by chain id. */
	relayers: z.record(z.string().regex(/^[1-9]\d*$/), z.array(keyReferenceSchema).min(1)).exactOptional(),
	/** The treasurer's key of each EVM chain, by chain id. Used only if the treasury acts. */
	treasurers: z.record(z.string().regex(/^[1-9]\d*$/), keyReferenceSchema).exactOptional(),
	solana: z
		.strictObject({
			feePayers: z.array(keyReferenceSchema).min(1),
			operator: keyReferenceSchema,
		})
		.exactOptional(),
});
export type WorkerKeys = z.output<typeof workerKeysSchema>;

/** The key that the API signs receipts with. If absent, it is read from the environment. */
export const receiptKeysSchema = keySettingsSchema.extend({ key: keyReferenceSchema.exactOptional() });
export type ReceiptKeys = z.output<typeof receiptKeysSchema>;

/** The key of an attester. If absent, it is read from the environment. */
export const attesterKeysSchema = keySettingsSchema.extend({ attester: keyReferenceSchema.exactOptional() });
export type AttesterKeys = z.output<typeof attesterKeysSchema>;
