import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

export type SealKey = { kid: string; secret: Buffer };

/** Returns the keys that an environment's API seals with. It always seals with the first. */
export function sealKeysOf(serverEnvironment: Record<string, string>): SealKey[] {
	return (serverEnvironment.GEOSWAP_SEAL_KEYS ?? "").split(",").map((entry) => {
		const [kid = "", secret = ""] = entry.split(/[:@]/);
		return { kid, secret: Buffer.from(secret, "base64url") };
	});
}

/** Seals the content of a token again, with a key and a header of the caller's choice, as only the service could. */
export function resealToken(
	token: string,
	{ openWith, sealWith, header }: { openWith: Buffer; sealWith: Buffer; header: Record<string, unknown> },
): string {
	const [sealedHeader = "", , iv = "", content = "", tag = ""] = token.split(".");
	const decipher = createDecipheriv("aes-256-gcm", openWith, Buffer.from(iv, "base64url"));
	decipher.setAAD(Buffer.from(sealedHeader)).setAuthTag(Buffer.from(tag, "base64url"));
	const plaintext = Buffer.concat([decipher.update(Buffer.from(content, "base64url")), decipher.final()]);

	const newHeader = Buffer.from(JSON.stringify(header)).toString("base64url");
	const newIv = randomBytes(12);
	const cipher = createCipheriv("aes-256-gcm", sealWith, newIv);
	cipher.setAAD(Buffer.from(newHeader));
	const sealed = Buffer.concat([cipher.update(plaintext), cipher.final()]);
	return [
		newHeader,
		"",
		...[newIv, sealed, cipher.getAuthTag()].map((part) => part.toString("base64url")),
	].join(".");
}
