import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { serverCommand, waitUntil } from "@geoswap/devnet";
import { connectDatabase } from "../environment/connect-database.ts";
import { killPart, startPart } from "./part.ts";
import { type Machines, startAll, untilWell } from "./start-machines.ts";

const run = promisify(execFile);
/** Patroni's ttl, and more for a busy machine. */
const forgottenWithinMs = 90_000;

/** Copies the running database into the archive, as docs/restore.md describes. */
export async function copyToArchive({ database, parts }: Machines): Promise<void> {
	const { name, password } = database.replicator;
	const url = `postgres://${name}:${password}@${parts.operator[0]?.machine.address}:15432`;
	const copy = join(database.archive, "base");
	await run("pg_basebackup", ["--pgdata", copy, "--checkpoint=fast", "--dbname", url]);
	await run("chown", ["-R", "postgres:postgres", copy]);
}

/** Returns the database's clock. */
export async function readClock({ environment }: Machines): Promise<string> {
	const connection = await connectDatabase(environment.databaseUrl);
	try {
		const [row] = await connection.query<{ now: string }>("select now()::text as now");
		return row?.now ?? "";
	} finally {
		await connection.end();
	}
}

/** Kills the service, the engine and both databases, and removes all that the databases had on their disks. */
export async function loseDatabases({ parts, folder }: Machines): Promise<void> {
	const lost = [...parts.api, ...parts.worker, ...parts.engine, ...parts.postgres];
	await Promise.all(lost.map(killPart));
	for (const { machine } of parts.postgres) {
		rmSync(join(folder, machine.name, "postgres"), { recursive: true });
	}
}

/** Restores the database as of a time, as docs/restore.md describes, and starts everything again. */
export async function restoreDatabase(machines: Machines, { time }: { time: string }): Promise<void> {
	const { environment, parts, folder } = machines;
	const [first, second] = parts.postgres;
	if (!first || !second) throw new Error("there are two databases");
	const configFile = join(folder, first.machine.name, "patroni.yml");
	const usual = readFileSync(configFile, "utf8");
	const restoring = usual
		.replace(/^bootstrap:$/m, "bootstrap:\n  method: archive")
		.replace(/(?<=recovery_target_time: ).*/, JSON.stringify(time));
	writeFileSync(configFile, restoring);
	await forgetCluster(machines, configFile);
	await startPart(first);
	await untilWell([first]);
	writeFileSync(configFile, usual);
	await startPart(second);
	await untilWell(parts.postgres);
	await serverCommand(environment.serverEnvironment, ["migrate"]);
	await serverCommand(environment.serverEnvironment, ["restored"]);
	await startAll(parts.engine);
	await startAll([...parts.worker, ...parts.api]);
}

/** Removes what etcd knows of the cluster: otherwise Patroni waits for the member that had the newest data. */
async function forgetCluster({ parts }: Machines, configFile: string): Promise<void> {
	const machine = parts.postgres[0]?.machine;
	if (!machine) throw new Error("there are databases");
	const [command, ...args] = machine.command("patronictl", ["-c", configFile, "remove", "geoswap"]);
	const remove = async () => {
		const asked = run(command, args);
		// It asks for the name, and whether one means it. While the lost primary's lease lasts, it asks for more.
		asked.child.stdin?.end("geoswap\nYes I am aware\n");
		await asked;
		return true;
	};
	await waitUntil(remove, {
		timeoutMs: forgottenWithinMs,
		problem: () => "etcd does not forget the cluster: run patronictl remove",
	});
}
