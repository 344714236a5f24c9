import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zeroAddress } from "viem";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { readStackFile, serverMain } from "../src/index.ts";
import { isAnswering } from "../src/stack/is-answering.ts";
import { portSource } from "../src/stack/port-source.ts";
import { commandsInFolder } from "./commands-in-folder.ts";

const { folder, command } = commandsInFolder(join(import.meta.dirname, "../src/stack/main.ts"));

/** Returns the processes with the folder or one of the ports in their command line, watchdog readers included. */
function processesOf({ dataDir, port }: { dataDir: string; port: number }): string[] {
	const ports = Array.from({ length: 15 }, (_, i) => String(port + i));
	// Process ids are left out, because any of them could equal a port.
	const all = execFileSync("ps", ["-axo", "args="], { encoding: "utf8" }).split("\n");
	return all.filter(
		(line) => line.includes(dataDir) || ports.some((one) => line.split(/[\s:]/).includes(one)),
	);
}

describe("a running stack", () => {
	let port = 0;
	let dataDir = "";
	let stack: ReturnType<typeof command>;
	beforeAll(async () => {
		port = await portSource()();
		dataDir = join(folder, "first");
		stack = command(["--json", "--port", String(port), "--data-dir", dataDir]);
		await Promise.race([vi.waitUntil(() => stack.stdout().endsWith("\n"), 60_000), stack.finished]);
		if (stack.child.exitCode !== null) throw new Error((await stack.finished).stderr);
	});

	test("answers requests, and writes its address and key to a file that only its owner can read", async () => {
		const running = readStackFile(dataDir);
		expect(JSON.parse(stack.stdout())).toMatchObject({ baseUrl: running?.baseUrl, apiKey: running?.apiKey });
		expect(await isAnswering(`${running?.baseUrl}/health`)).toBe(true);
		// The files contain the key, and the secrets.
		for (const file of ["stack.json", "server.env"]) {
			expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
		}
	});

	test("provides an environment with which the server's commands work", () => {
		const args = [`--env-file=${join(dataDir, "server.env")}`, serverMain, "swaps", "show", zeroAddress];
		const { PATH } = process.env;
		const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: { PATH } });
		expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("no swap is known") });
	});

	test("reads attestations from its own Iris, and moves nothing", async () => {
		const { treasury } = JSON.parse(readFileSync(join(dataDir, "config.json"), "utf8"));
		expect(treasury).toEqual({ iris: { url: `http://127.0.0.1:${port + 17}` } });
		const unknown = await fetch(`${treasury.iris.url}/v2/messages/0?transactionHash=0x${"00".repeat(32)}`);
		expect(unknown.status).toBe(404);
		expect(await unknown.json()).toEqual({ code: 404, error: "Message hash not found" });
	});

	test("makes a second stack in the same folder or on the same port fail with the reason", async () => {
		const sameFolder = await command(["--port", String(port + 50), "--data-dir", dataDir]).finished;
		expect(sameFolder).toMatchObject({ code: 1, stderr: expect.stringContaining("runs from") });
		const samePort = await command(["--port", String(port), "--data-dir", join(folder, "second")]).finished;
		expect(samePort).toMatchObject({ code: 1, stderr: expect.stringContaining(`port ${port} is taken`) });
	});

	test("leaves no process and no key behind after Ctrl-C", async () => {
		expect(processesOf({ dataDir, port }).length).toBeGreaterThan(8);
		stack.child.kill("SIGINT");
		expect((await stack.finished).code).toBe(0);
		await expect.poll(() => processesOf({ dataDir, port }), { timeout: 5_000 }).toEqual([]);
		expect(existsSync(join(dataDir, "stack.json"))).toBe(false);
		expect(existsSync(join(dataDir, "server.env"))).toBe(false);
	});
});

test("a folder that has other files is refused and left unchanged", async () => {
	const dataDir = join(folder, "project");
	mkdirSync(join(dataDir, "logs"), { recursive: true });
	writeFileSync(join(dataDir, "logs/mine"), "kept");
	const refused = await command(["--port", String(await portSource()()), "--data-dir", dataDir]).finished;
	expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("name an empty folder") });
	expect(readFileSync(join(dataDir, "logs/mine"), "utf8")).toBe("kept");
	expect(readdirSync(dataDir)).toEqual(["logs"]);
});

test.each(["SIGTERM", "SIGKILL"] as const)(
	"a stack that is ended by %s while it starts leaves no process behind",
	async (signal) => {
		const early = { dataDir: join(folder, signal), port: await portSource()() };
		const run = command(["--port", String(early.port), "--data-dir", early.dataDir]);
		await vi.waitUntil(() => processesOf(early).length > 3, { timeout: 10_000 });
		run.child.kill(signal);
		await run.finished;
		await expect.poll(() => processesOf(early), { timeout: 15_000 }).toEqual([]);
	},
);
