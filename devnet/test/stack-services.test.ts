import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isAnswering } from "../src/stack/is-answering.ts";
import { portSource } from "../src/stack/port-source.ts";
import { runSql } from "../src/stack/run-sql.ts";
import { createDatabase, startPostgres } from "../src/stack/start-postgres.ts";
import { startRedis } from "../src/stack/start-redis.ts";
import { startRestate } from "../src/stack/start-restate.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-stack-"));
afterAll(() => rmSync(folder, { recursive: true }));

const nextPort = portSource();
const printPorts = `
	const { portSource } = await import(${JSON.stringify(new URL("../src/stack/port-source.ts", import.meta.url))});
	const next = portSource();
	console.log((await Promise.all(Array.from({ length: 60 }, () => next()))).join(" "));
`;
const restatePorts = async () => ({
	ingress: await nextPort(),
	admin: await nextPort(),
	node: await nextPort(),
});

/** Returns the processes with one of these marks in their command line, watchdog readers included. */
function processesWith(marks: (string | number)[]): string[] {
	const all = execFileSync("ps", ["-axo", "pid=,args="], { encoding: "utf8" }).split("\n");
	return all.filter((line) => marks.some((mark) => line.includes(String(mark))));
}

test("two port sources never give the same port, even if nothing listens on it yet", async () => {
	const sources = Array.from({ length: 20 }, () => portSource());
	const given = await Promise.all(sources.map(async (next) => [await next(), await next(), await next()]));
	expect(new Set(given.flat()).size).toBe(60);
	const elsewhere = execFileSync(process.execPath, ["--no-warnings", "-e", printPorts], { encoding: "utf8" });
	const others = elsewhere.trim().split(" ").map(Number);
	expect(others).toHaveLength(60);
	expect(others.filter((port) => given.flat().includes(port))).toEqual([]);
});

test("PostgreSQL, Redis and Restate start independently and leave no process or database behind", async () => {
	const dataDir = join(folder, "plain");
	const [postgresPort, redisPort] = [await nextPort(), await nextPort()];
	mkdirSync(dataDir);
	const logFile = (name: string) => join(dataDir, "logs", `${name}.log`);
	const [postgres, redis, restate] = await Promise.all([
		startPostgres({ dataDir, logFile: logFile("postgres"), port: postgresPort }),
		startRedis({ logFile: logFile("redis"), port: redisPort }),
		startRestate({ dataDir, logFile: logFile("restate"), ports: await restatePorts() }),
	]);
	const marks = [` ${postgresPort} `, ` ${redisPort} `, dataDir];
	expect(processesWith(marks).length).toBeGreaterThanOrEqual(3);

	const database = await createDatabase(postgres.url);
	await runSql(database.url, "create table kept (n int)");
	await database.stop();
	await expect(runSql(database.url, "select 1")).rejects.toThrow("does not exist");

	await Promise.all([postgres, redis, restate].map(({ stop }) => stop()));
	await expect.poll(() => processesWith(marks)).toEqual([]);
	expect(existsSync(join(dataDir, "postgres"))).toBe(false);
});

test("a service killed through its handle can be started again, and one killed from outside is reported", async () => {
	const dataDir = join(folder, "killed");
	mkdirSync(dataDir);
	const unexpected: string[] = [];
	const restate = await startRestate({
		dataDir,
		logFile: join(dataDir, "restate.log"),
		ports: await restatePorts(),
		onUnexpectedExit: (message) => unexpected.push(message),
	});
	try {
		const { pid } = restate.process;
		const exited = restate.process.exited();
		restate.process.kill("SIGKILL");
		await exited;
		expect(restate.process.pid).toBeUndefined();
		await restate.process.start();
		expect(restate.process.pid).not.toBe(pid);
		expect(await isAnswering(`${restate.adminUrl}/health`)).toBe(true);
		expect(unexpected).toEqual([]);

		process.kill(restate.process.pid ?? 0, "SIGKILL");
		await expect.poll(() => unexpected).toEqual([expect.stringContaining("restate ended unexpectedly")]);
	} finally {
		await restate.stop();
	}
});

test("a service that cannot start reports the reason", async () => {
	const port = await nextPort();
	const redis = await startRedis({ logFile: join(folder, "first.log"), port });
	try {
		await expect(
			startRestate({
				dataDir: folder,
				logFile: join(folder, "second.log"),
				ports: { ...(await restatePorts()), admin: port },
			}),
		).rejects.toThrow(/restate did not start: .*in use/i);
	} finally {
		await redis.stop();
	}
});

test("a service ends when the process that started it is killed", async () => {
	const port = await nextPort();
	const script = `
		import { startRedis } from ${JSON.stringify(join(import.meta.dirname, "../src/stack/start-redis.ts"))};
		await startRedis({ logFile: ${JSON.stringify(join(folder, "orphan.log"))}, port: ${port} });
		console.log("up");
		setInterval(() => {}, 1000);`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	await once(child.stdout, "data");
	expect(processesWith([`--port ${port}`, `:${port}`])).not.toEqual([]);
	child.kill("SIGKILL");
	await expect.poll(() => processesWith([`--port ${port}`, `:${port}`]), { timeout: 10_000 }).toEqual([]);
});
