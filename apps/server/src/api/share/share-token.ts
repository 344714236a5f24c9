import { createHash } from "node:crypto";

/** 144 bits, so links cannot be guessed, and 24 characters need no padding. */
const tokenBytes = 18;
const pattern = /^[\w-]{24}$/;

/** Creates the secret part of a link. */
export function newShareToken(random: (bytes: number) => Uint8Array): string {
	return Buffer.from(random(tokenBytes)).toString("base64url");
}

/** Returns the stored form of a token, or undefined if the text cannot be one. */
export function shareTokenHash(token: string): Buffer | undefined {
	return pattern.test(token) ? createHash("sha256").update(token).digest() : undefined;
}
