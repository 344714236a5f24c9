import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatDeployment } from "@geoswap/protocol";
import { afterAll } from "vitest";
import type { Io } from "../src/io.ts";
import { run } from "../src/run.ts";
import { evmKey, pins, solanaKey } from "./fake-service.ts";

export type Result = { exit: number; stdout: string; stderr: string };

/** Runs the program in this process, without a terminal. */
export async function runCli(
	args: string[],
	{
		env,
		interrupt,
		onStdout = async () => {},
		openUrl = async () => false,
	}: {
		env: Record<string, string | undefined>;
		interrupt?: AbortSignal;
		/** The reader of the result, which may be slow. */
		onStdout?: () => Promise<void>;
		/** The user's browser. There is none by default. */
		openUrl?: Io["openUrl"];
	},
): Promise<Result> {
	const written = { stdout: "", stderr: "" };
	const sink = (name: "stdout" | "stderr") => ({
		write: async (text: string) => {
			written[name] += text;
			if (name === "stdout") await onStdout();
		},
		isTerminal: false,
		columns: () => undefined,
	});
	const io: Io = {
		env,
		stdout: sink("stdout"),
		stderr: sink("stderr"),
		isInteractive: false,
		onInterrupt: (listener) => {
			interrupt?.addEventListener("abort", listener);
			return () => interrupt?.removeEventListener("abort", listener);
		},
		openUrl,
	};
	const exit = await run(args, io);
	return { exit, ...written };
}

const roots: string[] = [];
afterAll(() => {
	for (const root of roots) rmSync(root, { recursive: true, force: true });
});

/** Makes an empty home, with the fixtures' deployment file beside it and keys in the environment. */
export function makeHome(): { env: Record<string, string | undefined>; home: string; deployment: string } {
	const root = mkdtempSync(join(tmpdir(), "geoswap-cli-"));
	roots.push(root);
	const deployment = join(root, "published.json");
	writeFileSync(deployment, formatDeployment(pins));
	const home = join(root, "home");
	const keys = { GEOSWAP_API_KEY: "key-1", GEOSWAP_EVM_KEY: evmKey, GEOSWAP_SOLANA_KEY: solanaKey };
	return { home, deployment, env: { GEOSWAP_HOME: home, ...keys } };
}

/** Returns the arguments of `init` with the hash of the file, as if the user had compared it. */
export function initArgs(baseUrl: string, deployment: string, ...others: string[]): string[] {
	const sha256 = createHash("sha256").update(readFileSync(deployment)).digest("hex");
	return [
		...["init", "--base-url", baseUrl, "--deployment", deployment],
		...["--deployment-sha256", `sha256:${sha256}`, ...others],
	];
}
