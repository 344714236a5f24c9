import { resolve } from "node:path";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { readStackFile, stackDataDir } from "@geoswap/devnet";

/** Of every command that uses a stack which runs. */
export const stackOptions = {
	port: { type: "string" },
	"data-dir": { type: "string" },
	json: { type: "boolean" },
	help: { type: "boolean", short: "h" },
} as const satisfies ParseArgsOptionsConfig;

/** Says what is wrong, and exits 2, where it was called wrongly. */
export function readOptions<Options extends ParseArgsOptionsConfig>(help: string, options: Options) {
	try {
		return parseArgs({ options }).values;
	} catch (error) {
		console.error(`error: ${(error as Error).message}\n\n${help}`);
		process.exit(2);
	}
}

/** The stack that the options name, and its folder. Where help is asked for, or none runs, the command ends with that. */
export function openStack(
	help: string,
	values: { port?: string; "data-dir"?: string; help?: boolean },
): { stack: NonNullable<ReturnType<typeof readStackFile>>; dataDir: string } {
	if (values.help) {
		console.log(help);
		process.exit(0);
	}
	const dataDir = values["data-dir"]
		? resolve(values["data-dir"])
		: stackDataDir(values.port ? Number(values.port) : undefined);
	const stack = readStackFile(dataDir);
	if (!stack) {
		console.error("error: no stack runs: start one with `pnpm start` in another terminal");
		process.exit(2);
	}
	return { stack, dataDir };
}
