import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { isRunning } from "../is-running.ts";
import { findBinary } from "./find-binary.ts";
import { runSql } from "./run-sql.ts";
import { type ServiceProcess, serviceProcess } from "./service-process.ts";

export type StackPostgres = {
	url: string;
	/** The roles' names, unique on that server. */
	roles: DatabaseRoles;
	/** Undefined if the stack did not start the server. */
	process?: ServiceProcess;
	stop: () => Promise<void>;
};

type DatabaseRoles = { api: string; worker: string; auditor: string; console: string };

const folderPrefix = "geoswap-postgres-";

/** Creates a new database on a running server. It is dropped at the end. */
export async function createDatabase(serverUrl: string): Promise<StackPostgres> {
	const name = `geoswap_${randomBytes(6).toString("hex")}`;
	await runSql(serverUrl, `create database ${name}`);
	const url = new URL(serverUrl);
	url.pathname = `/${name}`;
	const roles = rolesOf(name);
	return {
		url: url.href,
		roles,
		stop: async () => {
			await runSql(serverUrl, `drop database ${name} with (force)`);
			// A stack that failed early has created no roles.
			await runSql(serverUrl, `drop role if exists ${Object.values(roles).join(", ")}`);
		},
	};
}

/** Returns a login for each role, with a new password. The roles exist once the database is migrated. */
export function databaseLogins({ url, roles }: Pick<StackPostgres, "url" | "roles">) {
	const loginOf = (role: string) => {
		const login = new URL(url);
		[login.username, login.password] = [role, randomBytes(18).toString("base64url")];
		return { url: login.href, setPassword: `alter role ${role} password '${login.password}'` };
	};
	return {
		api: loginOf(roles.api),
		worker: loginOf(roles.worker),
		auditor: loginOf(roles.auditor),
		console: loginOf(roles.console),
	};
}

function rolesOf(name: string): DatabaseRoles {
	return {
		api: `${name}_api`,
		worker: `${name}_worker`,
		auditor: `${name}_auditor`,
		console: `${name}_console`,
	};
}

/** Starts a new server from the machine's binaries. Stopping it removes its data. */
export async function startPostgres({
	dataDir,
	logFile,
	port,
	settings = [],
	parentDir = tmpdir(),
	onUnexpectedExit,
}: {
	dataDir: string;
	logFile: string;
	port: number;
	/** Server settings, as `name=value`. */
	settings?: readonly string[];
	/** The parent of the server's data folder if the server cannot run as the current user. */
	parentDir?: string;
	onUnexpectedExit?: ((message: string) => void) | undefined;
}): Promise<StackPostgres> {
	const found = findBinary("postgres");
	if (!found) {
		throw new Error(
			"PostgreSQL is not installed; run `apt install postgresql`, `brew install postgresql@15`, or set DATABASE_URL to a server that runs",
		);
	}
	// initdb looks for the server in its own folder.
	const binaries = dirname(realpathSync(found));
	const user = unprivilegedUser();
	const folder = dataFolder(dataDir, { user, parentDir });
	const removeData = () => rm(folder, { recursive: true, force: true });
	const env = { PATH: process.env.PATH, LC_ALL: "C" };
	const clusterFolder = join(folder, "cluster");
	try {
		await promisify(execFile)(
			join(binaries, "initdb"),
			["-D", clusterFolder, "-U", "geoswap", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
			{ env, cwd: "/", ...user },
		);
		// The server never requires the password. It is there so that tests can search for it in places that must not have
		// it.
		const url = `postgres://geoswap:${randomBytes(18).toString("base64url")}@127.0.0.1:${port}/postgres`;
		const server = serviceProcess({
			name: "postgres",
			command: join(binaries, "postgres"),
			args: [
				["-D", clusterFolder],
				["-h", "127.0.0.1"],
				["-p", String(port)],
				["-c", "unix_socket_directories="],
				["-c", "max_connections=200"],
				// The data survives a killed process without fsync, and need not survive a power cut.
				["-c", "fsync=off"],
				...settings.map((setting) => ["-c", setting]),
			].flat(),
			env,
			user,
			logFile,
			// On SIGTERM the server would wait for every client to leave.
			stopSignal: "SIGINT",
			isReady: async () => {
				await runSql(url, "select 1");
				return true;
			},
			onUnexpectedExit,
		});
		await server.start();
		return {
			url,
			roles: rolesOf("geoswap"),
			process: server,
			stop: async () => {
				await server.stop();
				await removeData();
			},
		};
	} catch (error) {
		await removeData();
		throw error;
	}
}

/** Returns a user to run as, because PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
	if (process.getuid?.() !== 0) return undefined;
	for (const name of ["postgres", "nobody"]) {
		try {
			const id = (flag: string) => Number(execFileSync("id", [flag, name], { stdio: "pipe" }));
			return { uid: id("-u"), gid: id("-g") };
		} catch {
			// This machine has no such user.
		}
	}
	throw new Error(
		"PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody` to run it as",
	);
}

function dataFolder(
	dataDir: string,
	{ user, parentDir }: { user: { uid: number; gid: number } | undefined; parentDir: string },
): string {
	if (!user) {
		const folder = join(dataDir, "postgres");
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		return folder;
	}
	// A folder of root's may be closed to others. Its name has this process's id, for `removeAbandoned`.
	removeAbandoned();
	const folder = mkdtempSync(join(parentDir, `${folderPrefix}${process.pid}-`));
	chownSync(folder, user.uid, user.gid);
	return folder;
}

/** Removes the folders of processes that were killed. */
function removeAbandoned(): void {
	for (const name of readdirSync(tmpdir())) {
		const owner = name.startsWith(folderPrefix)
			? Number.parseInt(name.slice(folderPrefix.length), 10)
			: Number.NaN;
		if (owner > 0 && !isRunning(owner)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
	}
}
