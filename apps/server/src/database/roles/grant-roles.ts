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
