import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { waitUntil } from "@geoswap/devnet";
import { connectDatabase } from "../environment/connect-database.ts";
import { makeCommands } from "../environment/make-commands.ts";
import { readSteps } from "../environment/read-steps.ts";
import { inFolders, untilPrimary, untilPromoted, user } from "./database-parts.ts";
import { killPart, type Part, startPart } from "./part.ts";
import { type Machines, startAll, untilWell } from "./start-machines.ts";

const page = readSteps(readFileSync(join(import.meta.dirname, "../../docs/restore.md"), "utf8"), [
	"Restoring",
	"To a point in time",
]);
/** Patroni's ttl, and more for a busy machine. */
const forgottenWithinMs = 90_000;

/** Copies the running database into the archive. */
export async function copyToArchive(machines: Machines): Promise<void> {
	const { database, parts } = machines;
	const env = { PATRONI_REPLICATION_PASSWORD: database.replicator.password };
	for (const begins of ["pg_basebackup ", "ln "]) {
		await runStep(machines, parts.operator[0], begins, { env, as: { user } });
	}
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

/** Takes the primary with its disk, and puts an empty machine in its place once the other has taken over. */
export async function replacePrimary({ parts: { postgres }, folder }: Machines): Promise<void> {
	const primary = await untilPrimary(postgres);
	await killPart(primary);
	rmSync(join(folder, primary.machine.name, "postgres"), { recursive: true });
	await untilPromoted(postgres, primary);
	await startPart(primary);
	await untilWell(postgres);
}

/** Kills the service, the engine and both databases, and takes from the databases all that was on their disks. */
export async function loseDatabases(machines: Machines): Promise<void> {
	const { parts } = machines;
	await Promise.all([...parts.api, ...parts.worker, ...parts.engine, ...parts.postgres].map(killPart));
	for (const part of parts.postgres) await runStep(machines, part, "mv /var/lib/geoswap/postgres ");
}

/** Restores the database as of a time, by the commands of docs/restore.md, and starts everything again. */
export async function restoreDatabase(machines: Machines, { time }: { time: string }): Promise<void> {
	const { environment, parts, folder } = machines;
	const [first, second] = parts.postgres;
	if (!first || !second) throw new Error("there are two databases");
	await runStep(machines, first, "cp -p patroni.yml ");
	await runStep(machines, first, "sed ", { env: { TIME: time } });
	await waitUntil(() => forgetCluster(machines, first), {
		timeoutMs: forgottenWithinMs,
		problem: () => "etcd still has the cluster; run patronictl remove",
	});
	await startPart(first);
	await untilWell([first]);
	await runStep(machines, first, "mv patroni.yml.before ");
	await startPart(second);
	await untilWell(parts.postgres);
	const { PATH, ...env } = environment.serverEnvironment;
	for (const begins of ["geoswapd migrate ", "geoswapd restored"]) {
		await runStep(machines, parts.operator[0], begins, {
			env: { ...env, PATH: `${makeCommands(folder)}:${PATH}` },
		});
	}
	await startAll(parts.engine);
	await startAll([...parts.worker, ...parts.api]);
}

/** Removes etcd's record of the cluster, because otherwise Patroni waits for the member that had the newest data. */
async function forgetCluster(machines: Machines, part: Part): Promise<true> {
	// The command requires the name, and a confirmation. While the lost primary's lease lasts, it requires more.
	await runStep(machines, part, "patronictl -c patroni.yml remove ", { input: "geoswap\nYes I am aware\n" });
	return true;
}

/** Runs the page's command that begins with these words on a machine, as the page writes it, but for the folders. */
async function runStep(
	{ database, folder, parts }: Machines,
	part: Part | undefined,
	begins: string,
	{ env = {}, input = "", as }: { env?: Record<string, string>; input?: string; as?: { user: string } } = {},
): Promise<void> {
	const command = page.commands.find((one) => one.startsWith(begins));
	if (!command) throw new Error(`docs/restore.md has no command \`${begins}\``);
	if (!part) throw new Error(`there is no machine for \`${command}\``);
	const { machine } = part;
	const own = join(folder, machine.name);
	const script = inFolders(command, { own, archive: database.archive });
	const [program, ...args] = machine.command("bash", ["-euc", script], as);
	// The operator works in the folder with the service's configuration.
	const cwd = parts.operator.includes(part) ? folder : own;
	const running = promisify(execFile)(program, args, { cwd, env: { PATH: process.env.PATH, ...env } });
	running.child.stdin?.end(input);
	await running;
}
