import { readFileSync } from "node:fs";
import { join } from "node:path";
import { foundryBinary } from "@geoswap/contracts";
import { makeCommands } from "../environment/make-commands.ts";
import { readSteps } from "../environment/read-steps.ts";
import { runShell } from "../environment/run-shell.ts";

const runbooks = join(import.meta.dirname, "../../docs/runbooks");

/** An alert's page, which a test follows to the letter. */
export type Runbook = {
	/**
	 * Runs the page's command that begins with these words, as the page writes it, and returns its output. The values
	 * are for the variables of the shell in it.
	 */
	run: (begins: string, values?: Record<string, string>, options?: { exitCode?: number }) => Promise<string>;
	/** Does the step that the page describes in these words. */
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
	const bin = makeCommands(dataDir, { cast: foundryBinary("cast", import.meta.url) });
	const env = {
		...serverEnvironment,
		PATH: `${bin}:${serverEnvironment.PATH}`,
		PROMETHEUS_URL: prometheusUrl,
		WHO: "the operator on call",
	};
	return {
		run: async (begins, values = {}, options = {}) => {
			const command = commands.find((one) => one.startsWith(begins));
			if (!command) throw new Error(`docs/runbooks/${alert}.md has no command \`${begins}\``);
			return runShell(command, { env: { ...env, ...values }, ...options });
		},
		step: async (words, act) => {
			if (!text.includes(words)) throw new Error(`docs/runbooks/${alert}.md does not contain \`${words}\``);
			await act();
		},
	};
}
