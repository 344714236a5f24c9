import { join, relative, resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { privateKeyToAddress } from "viem/accounts";
import { readRunningDevnet } from "../devnet-files.ts";
import { startDevnet } from "../start-devnet.ts";
import { restartOnChange } from "./restart-on-change.ts";
import { serverCommand } from "./server-command.ts";
import type { StackConfig } from "./stack-config.ts";
import {
	defaultStackPort,
	readStackFile,
	removeStackFiles,
	stackDataDir,
	writeServerEnvironment,
	writeStackFile,
} from "./stack-file.ts";
import { type Stack, type StackChains, startStack } from "./start-stack.ts";

type Options = { port: number; host?: string; dataDir?: string; watch?: boolean; json?: boolean };

/** The folders that the service's processes load their code from. */
const sourceFolders = ["apps/server/src", "packages/protocol/src"].map((folder) =>
	join(import.meta.dirname, "../../..", folder),
);

const program = new Command("start")
	.description(
		"Starts Geoswap on this machine: chains, services and an API key. Runs until Ctrl-C, which stops everything.",
	)
	.option(
		"--port <number>",
		"port of the API; everything else uses the next ports",
		parsePort,
		defaultStackPort,
	)
	.option("--host <address>", "address that the API listens on (default: 127.0.0.1)")
	.option(
		"--data-dir <path>",
		"folder of its files: new, empty, or of an earlier stack (default: .devnet, or .devnet/port-<number>)",
	)
	.option("--watch", "restart API, worker and attesters when their source changes; all else goes on")
	.option("--json", "print the result as JSON on stdout, progress on stderr")
	.addHelpText(
		"after",
		"\nIf DATABASE_URL or REDIS_URL is set, that server is used and none is started.\nThen: pnpm demo, or pnpm demo --solana",
	)
	.allowExcessArguments(false)
	.action(start);

try {
	await program.parseAsync();
} catch (error) {
	console.error(`error: ${(error as { shortMessage?: string }).shortMessage ?? (error as Error).message}`);
	process.exit(1);
}

async function start(options: Options): Promise<void> {
	const say = options.json ? console.error : console.log;
	const dataDir = options.dataDir ? resolve(options.dataDir) : stackDataDir(options.port);
	// The first process of every container has the same id, so a file with this process's id was left behind by a killed
	// stack.
	const other = readStackFile(dataDir);
	if (other && other.pid !== process.pid) {
		throw new Error(
			`a stack already runs from ${dataDir}: stop it, or start another with \`pnpm start --port ${options.port + 100}\``,
		);
	}
	if (hasDevnet(dataDir)) {
		throw new Error(`a devnet runs from ${dataDir}: stop it, or name another folder with --data-dir`);
	}
	removeStackFiles(dataDir);
	const ending = new AbortController();
	const askedToEnd = new Promise<void>((resolve) => ending.signal.addEventListener("abort", () => resolve()));
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.on(signal, () => {
			if (!ending.signal.aborted) say("stopping");
			ending.abort();
		});
	}
	let stack: Stack;
	const failure = Promise.withResolvers<string>();
	try {
		stack = await startStack({
			dataDir,
			port: options.port,
			startChains: (nextPort) => startChains(dataDir, nextPort),
			configure: (config) => listenOn(config, options.host),
			onProgress: say,
			// Code that is being changed may crash, and the next change starts it again. A database that ends is not restarted.
			onUnexpectedExit: options.watch ? say : failure.resolve,
			signal: ending.signal,
		});
	} catch (error) {
		if (ending.signal.aborted) process.exit(0);
		throw error;
	}

	await stack.processes.console.start();
	const invited = await serverCommand(stack.environment, ["console", "invite", "--name", "you", "--json"]);
	const { url: consoleLink } = JSON.parse(invited) as { url: string };
	const { baseUrl, apiKey, chains, solana } = stack;
	const running = {
		pid: process.pid,
		baseUrl,
		apiKey,
		chains,
		...(solana && {
			solana: { chainId: solana.chainId, rpcUrl: solana.rpcUrl, wsUrl: solana.wsUrl },
		}),
		deployment: "deployment.json",
		keys: "keys.json",
	};
	const file = writeStackFile(dataDir, running);
	writeServerEnvironment(dataDir, stack.environment);
	console.log(
		options.json
			? JSON.stringify({ ...running, consoleLink, file })
			: describe(stack, { dataDir, consoleLink }),
	);

	const { api, worker, audit, attesters, console: pages } = stack.processes;
	const processes = [...attesters, worker, audit, api, pages];
	const watching = options.watch && restartOnChange({ folders: sourceFolders, processes, say });
	const problem = await Promise.race([askedToEnd, failure.promise]);
	if (watching) watching.close();
	removeStackFiles(dataDir);
	await stack.processes.console.stop();
	await stack.stop();
	if (problem) throw new Error(problem);
	process.exit(0);
}

async function startChains(dataDir: string, nextPort: () => Promise<number>): Promise<StackChains> {
	const port = await nextPort();
	const { running, deployment, keys, solanaKeys, iris, stop } = await startDevnet({ port, dataDir });
	const solana = { ...running.solana, keys: solanaKeys };
	return { endpoints: running.chains, solana, deployment, keys, iris, stop };
}

/** Returns the configuration of a service that others can reach, as in a container. All else stays on 127.0.0.1. */
function listenOn({ api, ...config }: StackConfig, host: string | undefined): StackConfig {
	return { ...config, api: host === undefined ? api : { ...(api as object), host } };
}

function hasDevnet(dataDir: string): boolean {
	try {
		return readRunningDevnet(dataDir).pid !== process.pid;
	} catch {
		return false;
	}
}

function describe(
	{ baseUrl, apiKey, chains, solana, iris, keys, adminUrl, metricsUrls, logDir }: Stack,
	{ dataDir, consoleLink }: { dataDir: string; consoleLink: string },
): string {
	const here = (path: string) => relative(process.cwd(), path) || ".";
	const [wallet] = keys.wallets;
	const rows = [
		["API", baseUrl],
		["Docs", `${baseUrl}/docs`],
		["Console", `${consoleLink}  (works once; pnpm geoswapd console invite --name NAME makes another)`],
		["API key", apiKey],
		[
			"Demo wallet",
			`${wallet ? privateKeyToAddress(wallet) : ""}  (has tokens and 0 wei; its key is in the keys file)`,
		],
		...chains.map(({ chainId, rpcUrl }) => [`Chain ${chainId}`, rpcUrl]),
		...(solana ? [["Solana", solana.rpcUrl]] : []),
		...(iris ? [["Iris", `${iris.url}  (a model of Circle's attestation service)`]] : []),
		["Engine", adminUrl],
		["Metrics", `${metricsUrls.api}  ${metricsUrls.worker}  ${metricsUrls.audit}`],
		["Files", here(dataDir)],
		["Logs", here(logDir)],
	];
	const table = rows.map(([title = "", value]) => `  ${title.padEnd(14)}${value}`).join("\n");
	return `\n${table}\n\nTry: pnpm demo, or pnpm demo --solana\nPress Ctrl-C to stop.\n`;
}

function parsePort(text: string): number {
	const port = Number(text);
	if (!/^\d+$/.test(text) || port < 1 || port > 65_000)
		throw new InvalidArgumentError("must be a port from 1 to 65000.");
	return port;
}
