import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { fileStore } from "./file-store.ts";

let directory: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
	directory = await mkdtemp(join(tmpdir(), "geoswap-store-"));
});
afterEach(async () => {
	for (const child of children.splice(0)) child.kill("SIGKILL");
	await rm(directory, { recursive: true, force: true });
});

const program = fileURLToPath(import.meta.resolve("../test/file-store-program.ts"));
function start(task: "write" | "hold" | "try", id = "intent-1") {
	const child = spawn(process.execPath, [program, directory, id, task], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	children.push(child);
	const ended = once(child, "exit");
	return {
		pid: child.pid,
		lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
		ended,
		kill: async () => {
			child.kill("SIGKILL");
			await ended;
		},
	};
}
const namesOf = async () => (await readdir(directory)).filter((name) => name.endsWith(".json"));

test("after any number of kills the stored text is complete, and at least as new as the last acknowledged write", async () => {
	let told = 0;
	for (let kill = 0; kill < 5; kill++) {
		const { lines, kill: end } = start("write");
		for (let n = 0; n < 3 + 2 * kill; n++) told = Number((await lines.next()).value);
		await end();
		// A write that was in flight when the process was killed may or may not be stored.
		for await (const line of { [Symbol.asyncIterator]: () => lines }) told = Number(line);
		const { n, filling } = JSON.parse((await fileStore(directory).get("intent-1")) ?? "{}");
		expect(n).toBeGreaterThanOrEqual(told);
		expect(n).toBeLessThanOrEqual(told + 1);
		expect(filling).toHaveLength(n * 1_000);
	}
});

test("a read during a write returns the old text or the new one, never a part", async () => {
	const store = fileStore(directory);
	const texts = Array.from({ length: 30 }, (_, n) => `${n}:${"x".repeat(100_000 * (n % 3))}`);
	let isDone = false;
	const writing = (async () => {
		for (const text of texts) await store.set("intent-1", text);
		isDone = true;
	})();
	while (!isDone) {
		const text = await store.get("intent-1");
		if (text !== undefined) expect(texts.includes(text)).toBe(true);
	}
	await writing;
	expect(await readdir(directory)).toEqual(["intent-1.json"]);
});

test("a file that was half written when its process died is not read", async () => {
	const store = fileStore(directory);
	await store.set("intent-1", "whole");
	await writeFile(join(directory, "intent-1.0.new"), "ha");
	expect(await store.get("intent-1")).toBe("whole");
	expect(await store.get("intent-2")).toBeUndefined();
});

test("any text is a valid id, and no two ids share a file", async () => {
	const store = fileStore(directory);
	const ids = [
		...["", ".", "..", "a/b", "../a", "a\\b", "a b", "a\n", "a\0b", "A", "a", "é", "e\u0301", "ａ", "con"],
		...["a.json", "x".repeat(63), "x".repeat(64), "x".repeat(5_000), "🦆"],
	];
	for (const id of ids) await store.set(id, `of ${id}`);
	for (const id of ids) expect(await store.get(id)).toBe(`of ${id}`);
	expect(new Set((await namesOf()).map((name) => name.toLowerCase())).size).toBe(ids.length);
	// The name under which another id is stored is not an id itself.
	const [hashed = ""] = (await namesOf()).filter((name) => /^[\da-f]{64}\.json$/.test(name));
	expect(await store.get(hashed.replace(".json", ""))).toBeUndefined();
	for (const id of ids) await (await store.lock(id))?.();
	expect(await readdir(join(directory, ".."))).not.toContain("a.json");
});

test("only the owner can read the directory and its files", async () => {
	const store = fileStore(join(directory, "deep", "er"));
	await store.set("intent-1", "text");
	const modeOf = async (...path: string[]) => (await stat(join(directory, ...path))).mode & 0o777;
	expect(await modeOf("deep", "er")).toBe(0o700);
	expect(await modeOf("deep", "er", "intent-1.json")).toBe(0o600);
});

test("a directory that cannot be created is reported at the first use", async () => {
	await writeFile(join(directory, "file"), "");
	const store = fileStore(join(directory, "file", "store"));
	await expect(store.get("intent-1")).rejects.toThrow();
	await expect(store.lock("intent-1")).rejects.toThrow();
});

test("the store tries again to create a directory that it could not create before", async () => {
	await writeFile(join(directory, "file"), "");
	const store = fileStore(join(directory, "file", "store"));
	await expect(store.get("intent-1")).rejects.toThrow();
	await rm(join(directory, "file"));
	await store.set("intent-1", "text");
	expect(await store.get("intent-1")).toBe("text");
});

test("within one process only one caller at a time has the lock of an intent, across all stores of the directory", async () => {
	const [store, other] = [fileStore(directory), fileStore(directory)];
	const unlock = await store.lock("intent-1");
	expect(await other.lock("intent-1")).toBeUndefined();
	expect(await store.lock("intent-1")).toBeUndefined();
	expect(await other.lock("intent-2")).toBeDefined();
	await unlock?.();
	expect(await other.lock("intent-1")).toBeDefined();
});

test("a running process keeps its lock, and a killed process loses it", async () => {
	const { lines, kill } = start("hold");
	expect((await lines.next()).value).toBe("held");
	const store = fileStore(directory);
	expect(await store.lock("intent-1")).toBeUndefined();
	const second = start("hold");
	expect((await second.lines.next()).value).toBe("not held");
	await kill();
	const unlock = await store.lock("intent-1");
	expect(unlock).toBeDefined();
	await unlock?.();
	expect(await store.lock("intent-1")).toBeDefined();
});

test.runIf(process.platform === "linux")(
	"a killed process loses its lock even if its parent has not reaped it",
	async () => {
		const { execPath } = process;
		// The parent becomes a program that never reaps it.
		const command = `"${execPath}" "${program}" "${directory}" intent-1 hold & exec sleep 60`;
		const parent = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "inherit"] });
		children.push(parent);
		await once(parent.stdout, "data");
		const { pid } = JSON.parse(await readFile(join(directory, "intent-1.lock", "1"), "utf8"));
		expect(await fileStore(directory).lock("intent-1")).toBeUndefined();
		process.kill(pid, "SIGKILL");
		await vi.waitFor(async () => expect(await fileStore(directory).lock("intent-1")).toBeDefined());
		expect(() => process.kill(pid, 0)).not.toThrow();
	},
);

test("processes that take turns never overwrite each other", async () => {
	const turns = ["try", "try", "try"] as const;
	await Promise.all(turns.map((task) => start(task).ended));
	expect(await fileStore(directory).get("intent-1")).toBe("60");
});

test("only one of many concurrent callers takes over the lock of a dead process", async () => {
	for (let round = 0; round < 60; round++) {
		const id = `intent-${round}`;
		await mkdir(join(directory, `${id}.lock`));
		await writeFile(join(directory, `${id}.lock`, "7"), JSON.stringify({ pid: 2 ** 22, startedAt: "never" }));
		const locks = await Promise.all(Array.from({ length: 8 }, () => fileStore(directory).lock(id)));
		expect(locks.filter(Boolean)).toHaveLength(1);
	}
});

test("on Linux a reused process id is not mistaken for the owner of the lock", async () => {
	const { lines } = start("hold");
	await lines.next();
	const lock = join(directory, "intent-1.lock", "1");
	const owner = JSON.parse(await readFile(lock, "utf8"));
	await writeFile(lock, JSON.stringify({ ...owner, pid: process.pid }));
	// Only Linux reports when a process started.
	expect((await fileStore(directory).lock("intent-1")) !== undefined).toBe(process.platform === "linux");
});

test("where process start times are unknown, a lock is abandoned after a reboot and survives changes of the clock", async () => {
	const { platform } = process;
	Object.defineProperty(process, "platform", { value: "darwin" });
	onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
	const store = fileStore(directory);
	const unlock = await store.lock("intent-1");
	const path = join(directory, "intent-1.lock", "1");
	const owner = JSON.parse(await readFile(path, "utf8"));
	expect(await store.lock("intent-1")).toBeUndefined();
	for (const setByMs of [-3_600_000, 3_600_000]) {
		const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + setByMs);
		expect(await store.lock("intent-1")).toBeUndefined();
		clock.mockRestore();
	}
	// The lock was taken earlier, or its uptime is in whole seconds, or its version did not write an uptime.
	for (const uptimeSeconds of [0, owner.uptimeSeconds + 1, undefined]) {
		await writeFile(path, JSON.stringify({ ...owner, uptimeSeconds }));
		expect(await store.lock("intent-1")).toBeUndefined();
	}
	await writeFile(path, JSON.stringify({ ...owner, uptimeSeconds: owner.uptimeSeconds + 3_600 }));
	expect(await store.lock("intent-1")).toBeDefined();
	await expect(unlock?.()).rejects.toThrow();
});

test.each(["", "{", "\0\0\0"])(
	"a lock that a crash left reading %j is considered abandoned",
	async (text) => {
		await mkdir(join(directory, "intent-1.lock"));
		await writeFile(join(directory, "intent-1.lock", "1"), text);
		expect(await fileStore(directory).lock("intent-1")).toBeDefined();
	},
);
