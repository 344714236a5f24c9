import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import type { Database } from "../database.ts";
import { functionGrants, grants, type RoleName, roleNames } from "./grants.ts";

/** The names of the roles on this server. Roles belong to a whole server, so two services there need two sets. */
export type DatabaseRoles = Record<RoleName, string>;

/**
 * Creates the roles that do not exist, and makes their rights exactly those of `grants`. A new role may log in but
 * has no password, so it cannot be used by password until an operator sets one.
 */
export async function grantRoles(db: Database, roles: DatabaseRoles): Promise<void> {
	for (const name of Object.values(roles)) {
		const { rowCount } = await db.query("select from pg_roles where rolname = $1", [name]);
		if (rowCount === 0) await db.query(`create role ${quote(name)} login`);
	}
	const { rows } = await db.query<{ name: string }>("select current_database() as name");
	const everyone = ["public", ...Object.values(roles).map(quote)].join(", ");
	const statements = [
		`revoke create on schema public from ${everyone}`,
		`revoke all on all tables in schema public from ${everyone}`,
		`revoke all on all functions in schema public from ${everyone}`,
		// A temporary table is a table too.
		`revoke create, temporary on database ${quote(rows[0]?.name ?? "")} from ${everyone}`,
		...roleNames.flatMap((role) => {
			const to = quote(roles[role]);
			return [
				`grant usage on schema public to ${to}`,
				...Object.entries(grants).flatMap(([table, rights]) =>
					rights[role] === "" ? [] : [`grant ${rights[role]} on ${table} to ${to}`],
				),
				...Object.entries(functionGrants).flatMap(([name, callers]) =>
					callers.includes(role) ? [`grant execute on function ${name} to ${to}`] : [],
				),
			];
		}),
	];
	await db.query(statements.join(";\n"));
}

function quote(name: string): string {
	return `"${name.replaceAll('"', '""')}"`;
}

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
