import { createHash } from "node:crypto";

/** Returns the stored form of a token with 32 random bytes. A copy of the database is not enough to log in. */
export function hashToken(token: string): Buffer {
	return createHash("sha256").update(token).digest();
}

/**
 * Returns the token that a session's forms contain. Other sites cannot know it, since they cannot read the cookie.
 */
export function formTokenOf(sessionToken: string): string {
	return createHash("sha256").update(`form ${sessionToken}`).digest("base64url");
}
