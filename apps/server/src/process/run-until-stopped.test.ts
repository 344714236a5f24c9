import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

/** Starts a process that never finishes closing, and that prints what it does. */
async function startStubborn({ drain }: { drain: string }) {
	const file = new URL("run-until-stopped.ts", import.meta.url).href;
	const child = spawn(
		process.execPath,
		[
			...["--input-type=module", "--eval"],
			`import { runUntilStopped } from ${JSON.stringify(file)};
			setInterval(() => {}, 1_000);
			const log = { info: console.log, error: console.log };
			const close = [
				() => Promise.reject(new Error("cannot close")),
				() => { console.log("closing"); return new Promise(() => {}); },
			];
			const running = runUntilStopped({ stopping: new AbortController(), drain: async () => { ${drain} }, close, log });
			console.log("running");
			await running;`,
		],
		{ stdio: ["ignore", "pipe", "inherit"] },
	);
	let said = "";
	child.stdout.on("data", (data) => {
		said += data;
	});
	const exited = once(child, "exit");
	await expect.poll(() => said, { timeout: 20_000 }).toContain("running");
	return {
		closeTerminal: () => child.kill("SIGHUP"),
		/** Sends SIGTERM, and again after it has printed a word. Returns its exit code. */
		stopTwice: async (word: string): Promise<number> => {
			child.kill("SIGTERM");
			await expect.poll(() => said, { timeout: 20_000 }).toContain(word);
			child.kill("SIGTERM");
			const [code] = await exited;
			return code;
		},
	};
}

test("a process continues when its terminal closes, and still ends on SIGTERM", async () => {
	const running = await startStubborn({ drain: "" });
	running.closeTerminal();
	expect(await running.stopTwice("closing")).toBe(1);
}, 60_000);

test("a second signal exits immediately with code 1, or with the drain's exit code once the drain is done", async () => {
	const plain = await startStubborn({ drain: "" });
	expect(await plain.stopTwice("closing")).toBe(1);
	const draining = await startStubborn({ drain: 'console.log("draining"); await new Promise(() => {});' });
	expect(await draining.stopTwice("draining")).toBe(1);
	// Its supervisor must not start it again.
	const drained = await startStubborn({ drain: "process.exitCode = 0;" });
	expect(await drained.stopTwice("closing")).toBe(0);
}, 60_000);
