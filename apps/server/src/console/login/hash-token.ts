import { createHash } from "node:crypto";

/** Returns what is stored of a token with 32 random bytes: a copy of the database logs nobody in. */
export function hashToken(token: string): Buffer {
	return createHash("sha256").update(token).digest();
}

/** Returns the token that forms of a session carry. Other sites cannot know it, since they cannot read the cookie. */
export function formTokenOf(sessionToken: string): string {
	return createHash("sha256").update(`form ${sessionToken}`).digest("base64url");
}
