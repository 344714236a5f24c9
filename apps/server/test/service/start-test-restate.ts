import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { portSource, startRestate } from "@geoswap/devnet";

export type TestRestate = {
	ingressUrl: string;
	adminUrl: string;
	identityKeys: string[];
	/** Kills it with SIGKILL and restarts it on the same data. */
	crash: () => Promise<void>;
	/** Kills it with SIGKILL and restarts it without any data. */
	wipe: () => Promise<void>;
	stop: () => Promise<void>;
};

/** Starts an engine for the test alone, on free ports, with its data in a folder that is removed with it. */
export async function startTestRestate(): Promise<TestRestate> {
	const dataDir = mkdtempSync(join(tmpdir(), "geoswap-restate-"));
	const freePort = portSource();
	const { ingressUrl, adminUrl, identityKey, process, stop } = await startRestate({
		dataDir,
		logFile: join(dataDir, "restate.log"),
		ports: { ingress: await freePort(), admin: await freePort(), node: await freePort() },
	});
	const kill = async () => {
		const gone = process.exited();
		process.kill("SIGKILL");
		await gone;
	};
	return {
		ingressUrl,
		adminUrl,
		identityKeys: [identityKey],
		crash: async () => {
			await kill();
			await process.start();
		},
		wipe: async () => {
			await kill();
			rmSync(join(dataDir, "restate"), { recursive: true });
			await process.start();
		},
		stop: async () => {
			await stop();
			rmSync(dataDir, { recursive: true, force: true });
		},
	};
}
