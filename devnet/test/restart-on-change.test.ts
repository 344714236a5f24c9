import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { isAnswering } from "../src/stack/is-answering.ts";
import { portSource } from "../src/stack/port-source.ts";
import { restartOnChange } from "../src/stack/restart-on-change.ts";
import { serviceProcess } from "../src/stack/service-process.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-restart-"));
const cleanups: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
afterEach(async () => {
	for (const clean of cleanups.splice(0).reverse()) await clean();
});

test("a changed source file restarts the process, and code that fails to run is started again once it is fixed", async () => {
	const source = join(folder, "src/deep/server.ts");
	mkdirSync(join(folder, "src/deep"), { recursive: true });
	const port = await portSource()();
	const server = (version: string) =>
		`import { createServer } from "node:http";
		console.log("${version}");
		createServer((_, response) => response.end("${version}")).listen(${port}, "127.0.0.1");`;
	writeFileSync(source, server("first"));
	const logFile = join(folder, "server.log");
	const service = serviceProcess({
		name: "server",
		command: process.execPath,
		args: [source],
		env: { PATH: process.env.PATH },
		logFile,
		isReady: () => isAnswering(`http://127.0.0.1:${port}/`),
	});
	await service.start();
	cleanups.push(service.stop);
	const said: string[] = [];
	const { close } = restartOnChange({
		folders: [join(folder, "src")],
		processes: [service],
		say: (line) => said.push(line),
	});
	cleanups.push(close);
	const first = service.pid;

	writeFileSync(source, server("second"));
	await expect.poll(() => said).toEqual([expect.stringMatching(/server\.ts changed: 1 processes restarted/)]);
	expect(service.pid).not.toBe(first);
	expect(readFileSync(logFile, "utf8")).toBe("first\nsecond\n");

	writeFileSync(source, "this is no program");
	await expect.poll(() => said[1]).toContain("server did not start");
	writeFileSync(source, server("third"));
	await expect.poll(() => readFileSync(logFile, "utf8")).toMatch(/third\n$/);
});
