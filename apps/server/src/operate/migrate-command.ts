import { ConfigError } from "../config/config-error.ts";
import { readConfig } from "../config/read-config.ts";
import { readSecret } from "../config/secrets.ts";
import { openDatabase } from "../database/database.ts";
import { ensurePartitions } from "../database/ensure-partitions.ts";
import { migrate, SchemaError } from "../database/migrate.ts";

export async function migrateCommand({ config, json }: { config: string; json?: boolean }): Promise<void> {
	const { roles } = readConfig(config).database;
	const pool = openDatabase({ url: readSecret("DATABASE_URL"), applicationName: "geoswapd migrate", max: 1 });
	try {
		const applied = await migrate(pool, { roles }).catch((error: unknown) => {
			throw error instanceof SchemaError ? new ConfigError("the database", error.message) : error;
		});
		await ensurePartitions(pool, { nowMs: Date.now() });
		if (json) console.log(JSON.stringify({ applied }));
		else console.log(applied.length === 0 ? "the schema is up to date" : `applied ${applied.join(", ")}`);
	} finally {
		await pool.end();
	}
}
