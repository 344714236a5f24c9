import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { portSource, type ServiceProcess, serviceProcess, startPostgres } from "@geoswap/devnet";
import { connectDatabase } from "../environment/connect-database.ts";

const run = promisify(execFile);

/** A primary on a small disk, its synchronous standby on another, and the address that leads to one of them. */
export type DatabasePair = {
	/** The address of the proxy, with the owner's login. */
	url: string;
	primary: ServiceProcess;
	/** The folder on which the small disk is mounted. */
	disk: string;
	/** Makes the standby the primary, and lets the proxy lead to it. */
	promote: () => Promise<void>;
	stop: () => Promise<void>;
};

/** Enough for a new cluster and some minutes of swaps. */
const diskSize = "400m";

/** Starts both servers. Needs root, to mount a disk. */
export async function startDatabasePair(): Promise<DatabasePair> {
	const folder = mkdtempSync(join(tmpdir(), "geoswap-databases-"));
	chmodSync(folder, 0o755);
	const disk = join(folder, "disk");
	mkdirSync(disk);
	execFileSync("mount", ["-t", "tmpfs", "-o", `size=${diskSize},mode=755`, "tmpfs", disk]);
	const nextPort = portSource();
	const [primaryPort, standbyPort] = [await nextPort(), await nextPort()];
	const {
		process: primary,
		url: primaryUrl,
		stop: stopPrimary,
	} = await startPostgres({
		dataDir: folder,
		parentDir: disk,
		logFile: join(folder, "primary.log"),
		port: primaryPort,
		settings: ["max_wal_size=64MB", "min_wal_size=32MB", "wal_keep_size=32MB"],
	});
	if (!primary) throw new Error("the pair has no primary");
	const binaries = join("/usr/lib/postgresql", readdirSync("/usr/lib/postgresql").at(-1) ?? "", "bin");
	const standbyFolder = join(folder, "standby");
	const user = { uid: idOf("-u"), gid: idOf("-g") };
	mkdirSync(standbyFolder, { mode: 0o700 });
	execFileSync("chown", [`${user.uid}:${user.gid}`, standbyFolder]);
	const from = new URL(primaryUrl);
	await run(
		join(binaries, "pg_basebackup"),
		["-h", from.hostname, "-p", from.port, "-U", from.username, "-D", standbyFolder, "-R", "-X", "stream"],
		{ ...user, cwd: "/", env: { PATH: process.env.PATH } },
	);
	const standbyUrl = primaryUrl.replace(`:${primaryPort}/`, `:${standbyPort}/`);
	const standby = serviceProcess({
		name: "standby",
		command: join(binaries, "postgres"),
		args: [
			...["-D", standbyFolder, "-h", "127.0.0.1", "-p", String(standbyPort)],
			...["-c", "unix_socket_directories=", "-c", "max_connections=200", "-c", "fsync=off"],
		],
		env: { PATH: process.env.PATH, LC_ALL: "C" },
		user,
		logFile: join(folder, "standby.log"),
		stopSignal: "SIGINT",
		isReady: async () => (await runSql(standbyUrl, "select pg_is_in_recovery()")).length === 1,
	});
	await standby.start();
	// With a synchronous standby, losing the primary loses no committed data.
	await runSql(primaryUrl, "alter system set synchronous_standby_names = '*'");
	await runSql(primaryUrl, "select pg_reload_conf()");
	const proxy = await startTcpProxy(primaryPort);
	return {
		url: primaryUrl.replace(`:${primaryPort}/`, `:${proxy.port}/`),
		primary,
		disk,
		promote: async () => {
			await runSql(standbyUrl, "select pg_promote()");
			await runSql(standbyUrl, "alter system reset synchronous_standby_names");
			await runSql(standbyUrl, "select pg_reload_conf()");
			proxy.lead(standbyPort);
		},
		stop: async () => {
			proxy.stop();
			await standby.stop();
			await stopPrimary();
			execFileSync("umount", [disk]);
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

async function runSql(url: string, sql: string): Promise<unknown[]> {
	const database = await connectDatabase(url);
	try {
		return await database.query(sql);
	} finally {
		await database.end();
	}
}

function idOf(flag: "-u" | "-g"): number {
	return Number(execFileSync("id", [flag, "postgres"]));
}

async function startTcpProxy(
	first: number,
): Promise<{ port: number; lead: (port: number) => void; stop: () => void }> {
	let target = first;
	const sockets = new Set<Socket>();
	const server = createServer((client) => {
		const upstream = connect(target, "127.0.0.1");
		for (const [one, other] of [
			[client, upstream],
			[upstream, client],
		] as const) {
			sockets.add(one);
			one
				.on("error", () => {})
				.on("close", () => {
					sockets.delete(one);
					other.destroy();
				});
		}
		client.pipe(upstream).pipe(client);
	});
	const port = await portSource()();
	await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
	const dropAll = () => {
		for (const socket of sockets) socket.destroy();
	};
	return {
		port,
		lead: (next) => {
			target = next;
			dropAll();
		},
		stop: () => {
			server.close();
			dropAll();
		},
	};
}
