import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import type { Database } from "../database.ts";

/** PostgreSQL's own default. */
const iterations = 4_096;

/**
 * Sets the password of a role. The server gets only a SCRAM verifier, as from psql's \password, because a statement
 * can end up in a log.
 */
export async function setPassword(
	db: Database,
	{ role, password }: { role: string; password: string },
): Promise<void> {
	const { rows } = await db.query<{ statement: string }>(
		"select format('alter role %I password %L', $1::text, $2::text) as statement",
		[role, scramVerifier(password, { salt: randomBytes(16) })],
	);
	await db.query(rows[0]?.statement ?? "");
}

/** Returns what PostgreSQL stores of a password (RFC 5803). Characters outside ASCII would need SASLprep first. */
export function scramVerifier(password: string, { salt }: { salt: Uint8Array }): string {
	if (!/^[\x20-\x7e]+$/.test(password)) throw new Error("a password of a role must be printable ASCII");
	const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
	const keyed = (text: string) => createHmac("sha256", salted).update(text).digest();
	const stored = createHash("sha256").update(keyed("Client Key")).digest("base64");
	const server = keyed("Server Key").toString("base64");
	return `SCRAM-SHA-256$${iterations}:${Buffer.from(salt).toString("base64")}$${stored}:${server}`;
}
