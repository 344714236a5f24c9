import { isAbsolute } from "node:path";
import * as z from "zod";

/**
 * The kinds of places that hold keys, each the scheme of a reference such as `keystore:/etc/geoswap/relayer.json`.
 */
const keyBackends = ["env", "keystore", "pkcs11", "awskms", "gcpkms", "remote"] as const;
export type KeyBackend = (typeof keyBackends)[number];

/** Names a key without containing it. */
export type KeyReference = `${KeyBackend}:${string}`;

const forms: Record<KeyBackend, { form: RegExp; example: string }> = {
	env: { form: /^[A-Z][A-Z0-9_]*$/, example: "env:RELAYER_KEY" },
	keystore: { form: /^\//, example: "keystore:/etc/geoswap/relayer.json" },
	pkcs11: { form: /^[^?]*\bobject=[^;?]/, example: "pkcs11:token=geoswap;object=relayer-1" },
	awskms: { form: /^[\w:/-]+$/, example: "awskms:arn:aws:kms:eu-west-1:111122223333:key/KEY_ID" },
	gcpkms: {
		form: /^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[^/]+\/cryptoKeyVersions\/\d+$/,
		example: "gcpkms:projects/P/locations/L/keyRings/R/cryptoKeys/K/cryptoKeyVersions/1",
	},
	remote: { form: /^[\w.-]+$/, example: "remote:relayer-1" },
};

export const keyReferenceSchema = z.string().transform((text, context): KeyReference => {
	const { backend, rest } = splitReference(text);
	// A text of another form is not quoted, because it may be the key itself.
	if (!isBackend(backend)) {
		context.addIssue(
			`a key is named by its place, as in ${forms.pkcs11.example}: one of ${keyBackends.join(", ")}`,
		);
		return z.NEVER;
	}
	if (!forms[backend].form.test(rest)) context.addIssue(`must have the form ${forms[backend].example}`);
	return `${backend}:${rest}`;
});

/** Splits a reference into its place and the name of the key there. */
export function parseKeyReference(reference: KeyReference): { backend: KeyBackend; rest: string } {
	const { backend, rest } = splitReference(reference);
	if (!isBackend(backend)) throw new Error("the reference was parsed before");
	return { backend, rest };
}

function splitReference(text: string): { backend: string; rest: string } {
	const [backend = "", ...rest] = text.split(":");
	return { backend, rest: rest.join(":") };
}

function isBackend(text: string): text is KeyBackend {
	return (keyBackends as readonly string[]).includes(text);
}

/** A path that means the same file in any working directory. */
export const absolutePathSchema = z.string().refine(isAbsolute, "must be an absolute path");
