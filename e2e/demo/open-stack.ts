import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { readStackFile, stackDataDir } from "@geoswap/devnet";

/** Options of every command that uses a running stack. */
export const stackOptions = {
	port: { type: "string" },
	"data-dir": { type: "string" },
	wait: { type: "string" },
	json: { type: "boolean" },
	help: { type: "boolean", short: "h" },
} as const satisfies ParseArgsOptionsConfig;

/** Parses the options. If they are wrong, prints why and exits with 2. */
export function readOptions<Options extends ParseArgsOptionsConfig>(help: string, options: Options) {
	try {
		return parseArgs({ options }).values;
	} catch (error) {
		console.error(`error: ${(error as Error).message}\n\n${help}`);
		process.exit(2);
	}
}

/**
 * Returns the stack that the options select, and its folder. Exits after printing the help for `--help`, or if no such
 * stack runs within the seconds of `wait`.
 */
export async function openStack(
	help: string,
	values: { port?: string; "data-dir"?: string; wait?: string; help?: boolean },
): Promise<{ stack: NonNullable<ReturnType<typeof readStackFile>>; dataDir: string }> {
	if (values.help) {
		console.log(help);
		process.exit(0);
	}
	const dataDir = values["data-dir"]
		? resolve(values["data-dir"])
		: stackDataDir(values.port ? Number(values.port) : undefined);
	const waitSeconds = Number(values.wait ?? 0);
	if (!(waitSeconds >= 0)) {
		console.error(`error: --wait must be a number of seconds\n\n${help}`);
		process.exit(2);
	}
	const deadlineMs = Date.now() + waitSeconds * 1_000;
	let stack = readStackFile(dataDir);
	// A stack that was killed leaves its file behind, while the next one is still starting.
	while (!(stack && (await isReady(stack))) && Date.now() < deadlineMs) {
		await sleep(500);
		stack = readStackFile(dataDir);
	}
	if (!stack) {
		console.error("error: no stack is running; start one with `pnpm start` in another terminal");
		process.exit(2);
	}
	return { stack, dataDir };
}

async function isReady({ baseUrl }: { baseUrl: string }): Promise<boolean> {
	return fetch(`${baseUrl}/ready`).then(
		({ ok }) => ok,
		() => false,
	);
}
