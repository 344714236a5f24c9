import * as z from "zod";
import { millisecondsSchema } from "./duration-schemas.ts";
import { absolutePathSchema } from "./key-reference.ts";
import { urlSchema } from "./url-schema.ts";

/** How to reach the places that hold keys. Only places that a reference names are needed. */
export const keySettingsSchema = z.strictObject({
	/**
	 * True if keys may be in the environment on chains that are not a devnet, where they are as readable as the
	 * process.
	 */
	allowPlain: z.boolean().default(false),
	/** Timeout of a signer. */
	timeoutMs: millisecondsSchema.default(5_000),
	keystore: z
		.strictObject({
			/** File with the password of all keystores. */
			passwordFile: absolutePathSchema,
		})
		.exactOptional(),
	pkcs11: z
		.strictObject({
			/** The device's library, such as `/usr/lib/softhsm/libsofthsm2.so`. */
			module: absolutePathSchema,
			/** File with the PIN. A reference with its own `pin-source` does not use it. */
			pinFile: absolutePathSchema.exactOptional(),
		})
		.exactOptional(),
	awskms: z
		.strictObject({
			/** Region of keys that are named without one. An ARN contains its region. */
			region: z.string().exactOptional(),
			/** Another address of the service, such as a private endpoint. */
			endpoint: urlSchema.exactOptional(),
		})
		.exactOptional(),
	gcpkms: z
		.strictObject({
			endpoint: urlSchema.exactOptional(),
		})
		.exactOptional(),
	remote: z
		.strictObject({
			/** Address of the remote signer. */
			url: urlSchema,
			/** Certificate of the authority that signed the remote signer's certificate. */
			caFile: absolutePathSchema,
			/** Certificate and key with which this process authenticates. */
			certificateFile: absolutePathSchema,
			keyFile: absolutePathSchema,
		})
		.exactOptional(),
});
export type KeySettings = z.output<typeof keySettingsSchema>;
