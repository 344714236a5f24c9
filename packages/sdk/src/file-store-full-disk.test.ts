import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fileStore } from "./file-store.ts";

/** True if the disk has no room for another byte. An empty file still has room. */
const disk = vi.hoisted(() => ({ isFull: false }));
vi.mock("node:fs/promises", async (importOriginal) => {
	const fs = await importOriginal<typeof import("node:fs/promises")>();
	const full = () => Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
	const open: typeof fs.open = async (...args) => {
		const file = await fs.open(...args);
		if (disk.isFull) file.writeFile = async () => Promise.reject(full());
		return file;
	};
	const writeFile: typeof fs.writeFile = async (path, data, options) => {
		await fs.writeFile(path, disk.isFull ? "" : data, options);
		if (disk.isFull) throw full();
	};
	return { ...fs, open, writeFile };
});

let directory: string;
beforeEach(async () => {
	directory = await mkdtemp(join(tmpdir(), "geoswap-full-"));
});
afterEach(async () => {
	disk.isFull = false;
	await rm(directory, { recursive: true, force: true });
});

test("a lock is released even if the disk is full", async () => {
	const store = fileStore(directory);
	const unlock = await store.lock("intent-1");
	disk.isFull = true;
	await unlock?.();
	disk.isFull = false;
	expect(await store.lock("intent-1")).toBeDefined();
});

test("a failed write keeps the earlier text and leaves no other file behind", async () => {
	const store = fileStore(directory);
	await store.set("intent-1", "before");
	disk.isFull = true;
	await expect(store.set("intent-1", "after")).rejects.toMatchObject({ code: "ENOSPC" });
	await expect(store.lock("intent-1")).rejects.toMatchObject({ code: "ENOSPC" });
	expect(await store.get("intent-1")).toBe("before");
	expect((await readdir(directory)).sort()).toEqual(["intent-1.json", "intent-1.lock"]);
	expect(await readdir(join(directory, "intent-1.lock"))).toEqual([]);
});
