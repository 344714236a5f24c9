import { ConfigError } from "../config/config-error.ts";
import { readConfig } from "../config/read-config.ts";
import { readOptionalSecret, readSecret } from "../config/secrets.ts";
import { openDatabase } from "../database/database.ts";
import { ensurePartitions, migrate, SchemaError } from "../database/migrate.ts";
import { type DatabaseRoles, setPassword } from "../database/roles/grant-roles.ts";
import { roleNames } from "../database/roles/grants.ts";
import { urlVariables } from "../preflight/expect-database.ts";

export async function migrateCommand({
	config,
	passwords: hasPasswords = false,
	json,
}: {
	config: string;
	passwords?: boolean;
	json?: boolean;
}): Promise<void> {
	const { roles } = readConfig(config).database;
	const logins = hasPasswords ? readLogins(roles) : [];
	const pool = openDatabase({ url: readSecret("DATABASE_URL"), applicationName: "geoswapd migrate", max: 1 });
	try {
		const applied = await migrate(pool, { roles }).catch((error: unknown) => {
			throw error instanceof SchemaError ? new ConfigError("the database", error.message) : error;
		});
		for (const login of logins) await setPassword(pool, login);
		await ensurePartitions(pool, { nowMs: Date.now() });
		if (json) console.log(JSON.stringify({ applied }));
		else console.log(applied.length === 0 ? "the schema is up to date" : `applied ${applied.join(", ")}`);
	} finally {
		await pool.end();
	}
}

/** Returns the roles' passwords from the URLs that the processes log in with. Throws if a URL has another login. */
function readLogins(roles: DatabaseRoles): { role: string; password: string }[] {
	// A service without a console has no login for it.
	const used = roleNames.filter((name) => name !== "console" || readOptionalSecret(urlVariables[name]));
	return used.map((name) => {
		const variable = urlVariables[name];
		const { username, password } = new URL(readSecret(variable));
		const role = roles[name];
		if (decodeURIComponent(username) !== role || !password) {
			throw new ConfigError(variable, `must have the login ${role} and a password, for --passwords`);
		}
		return { role, password: decodeURIComponent(password) };
	});
}
