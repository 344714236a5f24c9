import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { portSource, startPostgres } from "@geoswap/devnet";
import pg from "pg";

/** A PostgreSQL for runs that nobody wants to keep: nothing of it has to outlive its process. */
export async function startSimPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
	const dataDir = mkdtempSync(join(tmpdir(), "geoswap-sim-"));
	const postgres = await startPostgres({
		dataDir,
		logFile: join(dataDir, "postgres.log"),
		port: await portSource()(),
	});
	await forgetDurability(postgres.url);
	return {
		url: postgres.url,
		stop: async () => {
			await postgres.stop();
			rmSync(dataDir, { recursive: true, force: true });
		},
	};
}

async function forgetDurability(url: string): Promise<void> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		for (const setting of ["fsync", "synchronous_commit", "full_page_writes", "autovacuum"]) {
			await client.query(`alter system set ${setting} = off`);
		}
		await client.query("select pg_reload_conf()");
	} finally {
		await client.end();
	}
}
