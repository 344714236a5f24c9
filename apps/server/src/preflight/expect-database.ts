import { ConfigError } from "../config/config-error.ts";
import type { SecretName } from "../config/secrets.ts";
import type { Database } from "../database/database.ts";
import { expectSchema, SchemaError } from "../database/migrate.ts";
import type { DatabaseRoles } from "../database/roles/grant-roles.ts";
import type { RoleName } from "../database/roles/grants.ts";

/** The variable that holds the login of each role. */
export const urlVariables = {
	api: "API_DATABASE_URL",
	worker: "WORKER_DATABASE_URL",
	auditor: "AUDITOR_DATABASE_URL",
	console: "CONSOLE_DATABASE_URL",
} as const satisfies Record<RoleName, SecretName>;

/**
 * Throws unless the schema is the one that this program was written for, and the login has the rights of that role
 * and no more, because with more rights the grants would protect nothing.
 */
export async function expectDatabase(db: Database, role: RoleName, roles: DatabaseRoles): Promise<void> {
	await expectSchema(db).catch((error: unknown) => {
		if (error instanceof SchemaError) throw new ConfigError("the database", error.message);
		// A login that may not read which migrations were applied has none of the roles, and is refused below.
		if ((error as { code?: string }).code !== "42501") throw error;
	});
	await expectRole(db, role, roles);
}

async function expectRole(db: Database, role: RoleName, roles: DatabaseRoles): Promise<void> {
	const { rows } = await db.query<{ login: string; has: RoleName[]; is_owner: boolean }>(
		`select current_user as login,
			array(
				select role from unnest($1::text[], $2::text[]) as known (role, name)
				where pg_has_role(current_user, to_regrole(name), 'usage')
			) as has,
			exists (
				select from pg_class c
				where c.oid = to_regclass('public.swaps') and pg_has_role(current_user, c.relowner, 'member')
			) as is_owner`,
		[Object.keys(roles), Object.values(roles)],
	);
	const { login = "", has = [], is_owner: isOwner = false } = rows[0] ?? {};
	const refuse = (problem: string) => {
		throw new ConfigError(urlVariables[role], `logs in as ${login}, ${problem}`);
	};
	// A superuser has every role, regardless of the grants.
	if (isOwner) refuse(`which may change every table; use a login that has only the role ${roles[role]}`);
	if (!has.includes(role))
		refuse(`which does not have the role ${roles[role]}; run geoswapd migrate, then grant it`);
	const other = has.find((name) => name !== role);
	if (other) refuse(`which also has the role ${roles[other]}: use a login that has only ${roles[role]}`);
}
