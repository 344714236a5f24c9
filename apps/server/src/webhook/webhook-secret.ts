import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { SealKeys } from "../config/seal-keys.ts";
import { sealingKey } from "../config/seal-keys.ts";

const prefix = "whsec_";

/** Returns a new signing secret, in the form of Standard Webhooks: 32 random bytes in base64. */
export function newWebhookSecret(random: (size: number) => Buffer = randomBytes): string {
	return `${prefix}${random(32).toString("base64")}`;
}

/** Seals a secret for storage. It opens only with the same keys, and only for the same webhook. */
export function sealSecret(
	keys: SealKeys,
	{ webhookId, secret }: { webhookId: string; secret: string },
): string {
	const { kid, secret: key } = sealingKey(keys);
	const iv = randomBytes(12);
	const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(webhookId));
	const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
	return [kid, ...[iv, sealed, cipher.getAuthTag()].map((part) => part.toString("base64url"))].join(".");
}

/**
 * Returns the secret. Unlike with a token, its key opens it for as long as it is configured, even if it is retired.
 */
export function openSecret(
	{ keys }: Pick<SealKeys, "keys">,
	{ webhookId, sealed }: { webhookId: string; sealed: string },
): string {
	const [kid, ...parts] = sealed.split(".");
	const key = keys.find((candidate) => candidate.kid === kid);
	if (!key)
		throw new RangeError(`the secret of a webhook is sealed with the key ${kid}, which is not configured`);
	const [iv, content, tag] = parts.map((part) => Buffer.from(part, "base64url"));
	if (!iv || !content || !tag) throw new RangeError("the sealed secret of a webhook is not complete");
	const decipher = createDecipheriv("aes-256-gcm", key.secret, iv, { authTagLength: 16 })
		.setAAD(Buffer.from(webhookId))
		.setAuthTag(tag);
	return Buffer.concat([decipher.update(content), decipher.final()]).toString("utf8");
}
