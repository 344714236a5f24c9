import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { foundryBinary } from "@geoswap/contracts";
import { serverMain } from "@geoswap/devnet";

const runbooks = join(import.meta.dirname, "../../docs/runbooks");

/** An alert's page, which a test follows to the letter. */
export type Runbook = {
	/**
	 * Runs the page's command that begins with these words, as the page writes it, and returns its output. The values
	 * are for the variables of the shell in it.
	 */
	run: (begins: string, values?: Record<string, string>, options?: { exitCode?: number }) => Promise<string>;
	/** Acts as the page tells in these words. */
	step: (words: string, act: () => Promise<unknown>) => Promise<void>;
};

/** Opens the page of an alert, for a stack whose commands read this environment. */
export function openRunbook(
	alert: string,
	{
		dataDir,
		serverEnvironment,
		prometheusUrl,
	}: { dataDir: string; serverEnvironment: Record<string, string>; prometheusUrl: string },
): Runbook {
	const page = readFileSync(join(runbooks, `${alert}.md`), "utf8");
	const { commands, text } = readSteps(page);
	const bin = makeCommands(dataDir);
	const env = {
		...serverEnvironment,
		PATH: `${bin}:${serverEnvironment.PATH}`,
		PROMETHEUS_URL: prometheusUrl,
		WHO: "the operator on call",
	};
	return {
		run: async (begins, values = {}, { exitCode = 0 } = {}) => {
			const command = commands.find((one) => one.startsWith(begins));
			if (!command) throw new Error(`docs/runbooks/${alert}.md has no command \`${begins}\``);
			const { code, output } = await promisify(execFile)("bash", ["-uc", command], {
				env: { ...env, ...values },
			}).then(
				({ stdout }) => ({ code: 0, output: stdout }),
				(error: { code: number; stdout: string; stderr: string }) => ({
					code: error.code,
					output: `${error.stdout}${error.stderr}`,
				}),
			);
			if (code !== exitCode) throw new Error(`\`${command}\` exited with ${code}: ${output}`);
			return output;
		},
		step: async (words, act) => {
			if (!text.includes(words)) throw new Error(`docs/runbooks/${alert}.md does not say \`${words}\``);
			await act();
		},
	};
}

/** Returns the commands in the fenced blocks of the page's "Do this" and "Check that", and the text of both. */
export function readSteps(page: string): { commands: string[]; text: string } {
	const parts = page.split(/^## /m).filter((part) => /^(Do this|Check that)\n/.test(part));
	// Every other piece between fences is inside a block, and begins with the block's language.
	const blocks = parts.flatMap((part) => part.split(/^ *```/m).filter((_, i) => i % 2 === 1));
	const commands = blocks.flatMap((block) =>
		block
			.replace(/^\w*\n/, "")
			.replaceAll(/\\\n\s*/g, "")
			.split("\n")
			.map((line) => line.trim())
			.filter((line) => line !== "" && !line.startsWith("#")),
	);
	return { commands, text: parts.join("").replaceAll(/\s+/g, " ") };
}

/** Puts `geoswapd` and `cast` into a folder, for the shell's path. */
function makeCommands(dataDir: string): string {
	const bin = join(dataDir, "bin");
	mkdirSync(bin, { recursive: true });
	const commands = {
		geoswapd: `"${process.execPath}" "${serverMain}"`,
		cast: `"${foundryBinary("cast", import.meta.url)}"`,
	};
	for (const [name, command] of Object.entries(commands)) {
		const file = join(bin, name);
		writeFileSync(file, `#!/bin/sh\nexec ${command} "$@"\n`);
		chmodSync(file, 0o755);
	}
	return bin;
}
