import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { portSource, startPostgres } from "@geoswap/devnet";

/** Starts a PostgreSQL for throwaway runs, whose data need not outlive its process. */
export async function startSimPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
	const dataDir = mkdtempSync(join(tmpdir(), "geoswap-sim-"));
	// The server may run as another user.
	chmodSync(dataDir, 0o777);
	const postgres = await startPostgres({
		dataDir,
		logFile: join(dataDir, "postgres.log"),
		port: await portSource()(),
		settings: [
			// A Unix socket is faster than TCP, and there are three hundred round trips per swap.
			`unix_socket_directories=${dataDir}`,
			...["synchronous_commit", "full_page_writes", "autovacuum", "jit"].map((name) => `${name}=off`),
		],
	});
	const url = new URL(postgres.url);
	url.searchParams.set("host", dataDir);
	return {
		url: url.href,
		stop: async () => {
			await postgres.stop();
			rmSync(dataDir, { recursive: true, force: true });
		},
	};
}
