import { execFile } from "node:child_process";
import { cp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { serverCommand } from "@geoswap/devnet";
import type { OwnEnvironment } from "./environment.ts";

const run = promisify(execFile);

/** The paths of a backup. */
type Backup = { databaseDump: string; engineCopy: string };

/**
 * Backs up the database while everything runs, and the engine while it is stopped, because its files must be
 * consistent.
 */
export async function backUp(environment: OwnEnvironment): Promise<Backup> {
	const { databaseUrl, stack } = environment;
	const folder = dataFolder(environment);
	const backup = { databaseDump: join(folder, "backup.dump"), engineCopy: join(folder, "restate-backup") };
	await run("pg_dump", ["--format=custom", `--file=${backup.databaseDump}`, databaseUrl]);
	await stack.processes.restate.stop();
	await rm(backup.engineCopy, { recursive: true, force: true });
	await cp(join(folder, "restate"), backup.engineCopy, { recursive: true });
	await stack.processes.restate.start();
	return backup;
}

/** Kills all processes together, as if the machine were lost. */
export async function stopAll({ stack }: OwnEnvironment): Promise<void> {
	const { api, worker, audit, restate, attesters } = stack.processes;
	await Promise.all(
		[api, worker, audit, restate, ...attesters].map(async (process) => {
			process.kill("SIGKILL");
			await process.exited();
		}),
	);
}

/** Restores a backup as docs/restore.md describes, and starts everything again. */
export async function restore(
	environment: OwnEnvironment,
	{ databaseDump, engineCopy }: Backup,
	{ what }: { what: "both" | "database" | "engine" },
): Promise<void> {
	const { databaseUrl, serverEnvironment, stack } = environment;
	const { api, worker, audit, restate, attesters } = stack.processes;
	if (what !== "engine") {
		const empty = "drop schema public cascade; create schema public";
		await run("psql", ["--quiet", "--set=ON_ERROR_STOP=1", `--command=${empty}`, databaseUrl]);
		await run("pg_restore", ["--exit-on-error", "--no-owner", `--dbname=${databaseUrl}`, databaseDump]);
		await serverCommand(serverEnvironment, ["migrate"]);
	}
	if (what !== "database") {
		const folder = join(dataFolder(environment), "restate");
		await rm(folder, { recursive: true, force: true });
		await cp(engineCopy, folder, { recursive: true });
	}
	await serverCommand(serverEnvironment, ["restored"]);
	await restate.start();
	await Promise.all([...attesters, worker, audit, api].map((process) => process.start()));
}

function dataFolder({ logDir }: OwnEnvironment): string {
	return dirname(logDir);
}
