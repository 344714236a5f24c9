import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export type TestRestate = {
	ingressUrl: string;
	adminUrl: string;
	/** Ends it with kill -9 and starts it again on the same data. */
	crash: () => Promise<void>;
	stop: () => Promise<void>;
};

/** Ends the engine when the pipe on descriptor 3 closes, which the system does however we die. */
const withWatchdog = '(cat; kill -9 "$$") <&3 >/dev/null 2>&1 & exec "$0" "$@" 3<&-';

/** An engine of the test's own, on free ports, with its data in a folder that goes with it. */
export async function startRestate(): Promise<TestRestate> {
	const folder = mkdtempSync(join(tmpdir(), "geoswap-restate-"));
	const [ingressPort = 0, adminPort = 0, nodePort = 0] = await freePorts(3);
	const adminUrl = `http://127.0.0.1:${adminPort}`;
	const ingressUrl = `http://127.0.0.1:${ingressPort}`;
	const configFile = join(folder, "restate.toml");
	writeFileSync(
		configFile,
		[
			`base-dir = "${join(folder, "data")}"`,
			'node-name = "test"',
			'bind-ip = "127.0.0.1"',
			'listen-mode = "tcp"',
			`bind-port = ${nodePort}`,
			"disable-telemetry = true",
			"default-num-partitions = 2",
			'rocksdb-total-memory-size = "128 MB"',
			"[ingress]",
			`bind-port = ${ingressPort}`,
			"[admin]",
			`bind-port = ${adminPort}`,
		].join("\n"),
	);

	async function start(): Promise<ChildProcess> {
		const child = spawn("/bin/sh", ["-c", withWatchdog, restateBinary(), "--config-file", configFile], {
			stdio: ["ignore", "pipe", "pipe", "pipe"],
			detached: true,
		});
		const output = createWriteStream(join(folder, "restate.log"), { flags: "a" });
		for (const stream of [child.stdout, child.stderr]) stream?.pipe(output, { end: false });
		await Promise.all([answers(`${adminUrl}/health`, child), answers(`${ingressUrl}/restate/health`, child)]);
		return child;
	}

	async function kill(child: ChildProcess): Promise<void> {
		const gone = once(child, "exit");
		child.kill("SIGKILL");
		await gone;
		child.stdio[3]?.destroy();
	}

	let running = await start();
	return {
		ingressUrl,
		adminUrl,
		crash: async () => {
			await kill(running);
			running = await start();
		},
		stop: async () => {
			await kill(running);
			rmSync(folder, { recursive: true });
		},
	};
}

function restateBinary(): string {
	const devnet = createRequire(import.meta.url).resolve("@geoswap/devnet");
	const launcher = createRequire(devnet).resolve("@restatedev/restate-server/package.json");
	const binary = `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
	return createRequire(launcher).resolve(binary);
}

async function answers(url: string, child: ChildProcess): Promise<void> {
	for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(50)) {
		if (child.exitCode !== null) throw new Error(`restate-server ended with ${child.exitCode}`);
		const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
		await response?.body?.cancel();
		if (response?.ok) return;
	}
	throw new Error(`${url} does not answer`);
}

/** All at once, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
	const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
	await Promise.all(servers.map((server) => once(server, "listening")));
	const ports = servers.map((server) => (server.address() as { port: number }).port);
	await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
	return ports;
}
