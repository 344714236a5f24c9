import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isAnswering } from "./is-answering.ts";
import { type ServiceProcess, serviceProcess } from "./service-process.ts";

export type StackRestate = {
	ingressUrl: string;
	adminUrl: string;
	process: ServiceProcess;
	stop: () => Promise<void>;
};

/** The engine, with a journal that begins empty and lasts until the next start from this folder. */
export async function startRestate({
	dataDir,
	logFile,
	ports,
	onUnexpectedExit,
}: {
	dataDir: string;
	logFile: string;
	ports: { ingress: number; admin: number; node: number };
	onUnexpectedExit?: ((message: string) => void) | undefined;
}): Promise<StackRestate> {
	const folder = join(dataDir, "restate");
	rmSync(folder, { recursive: true, force: true });
	const configFile = join(dataDir, "restate.toml");
	writeFileSync(configFile, restateConfig({ folder, ports }));
	const ingressUrl = `http://127.0.0.1:${ports.ingress}`;
	const adminUrl = `http://127.0.0.1:${ports.admin}`;
	const server = serviceProcess({
		name: "restate",
		command: restateBinary(),
		args: ["--no-logo", "--config-file", configFile],
		env: { PATH: process.env.PATH, HOME: process.env.HOME },
		logFile,
		isReady: async () =>
			(await isAnswering(`${adminUrl}/health`)) && (await isAnswering(`${ingressUrl}/restate/health`)),
		onUnexpectedExit,
	});
	await server.start();
	return { ingressUrl, adminUrl, process: server, stop: server.stop };
}

function restateConfig({
	folder,
	ports,
}: {
	folder: string;
	ports: { ingress: number; admin: number; node: number };
}): string {
	return `# By default it listens on every interface and reports home.
bind-ip = "127.0.0.1"
bind-port = ${ports.node}
listen-mode = "tcp"
disable-telemetry = true
base-dir = ${JSON.stringify(folder)}
# One that had another name would not find its journal again.
node-name = "devnet"
# Each takes memory, and a laptop needs no more.
default-num-partitions = 4
rocksdb-total-memory-size = "256 MiB"
log-format = "json"
shutdown-timeout = "3s"

[ingress]
bind-port = ${ports.ingress}

[admin]
bind-port = ${ports.admin}

[worker.invoker]
# In the system's own folder they would stay after a kill.
tmp-dir = ${JSON.stringify(join(folder, "tmp"))}
`;
}

function restateBinary(): string {
	const launcher = createRequire(import.meta.url).resolve("@restatedev/restate-server/package.json");
	return createRequire(launcher).resolve(
		`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
	);
}
