import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { uptime } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { SwapStore } from "./swap-store.ts";

/**
 * Returns a store with a file for each intent, in a directory that no other program needs to read. It survives a crash
 * of the process and of the machine. Processes may share it if they run on one machine and in one container, because a
 * lock's owner is looked up by its process id.
 */
export function fileStore(directory: string): SwapStore {
	const root = resolve(directory);
	let made: Promise<void> | undefined;
	const pathOf = async (id: string) => {
		made ??= makeDirectory(root).catch((error: unknown) => {
			// The next call tries again.
			made = undefined;
			throw error;
		});
		await made;
		// An id may be any text. A file's name may not, and some file systems ignore case.
		const isName = /^[a-z\d_-]{1,63}$/.test(id);
		return join(root, isName ? id : createHash("sha256").update(id).digest("hex"));
	};

	return {
		get: async (id) => readIfThere(`${await pathOf(id)}.json`),
		set: async (id, text) => {
			const path = await pathOf(id);
			const fresh = `${path}.${randomUUID()}.new`;
			// The write is atomic, because a half-written file has a name that no call reads.
			try {
				const file = await open(fresh, "wx", 0o600);
				try {
					await file.writeFile(text);
					await file.sync();
				} finally {
					await file.close();
				}
				await rename(fresh, `${path}.json`);
			} catch (error) {
				await rm(fresh, { force: true });
				throw error;
			}
			await syncDirectory(root);
		},
		lock: async (id) => lockIn(`${await pathOf(id)}.lock`),
	};
}

/** Creates the directory and its missing parents, each synced to disk before anything is stored in it. */
async function makeDirectory(path: string): Promise<void> {
	const first = await mkdir(path, { recursive: true, mode: 0o700 });
	if (first === undefined) return;
	for (let made = path; ; made = dirname(made)) {
		await syncDirectory(dirname(made));
		if (made === first || made === dirname(made)) return;
	}
}

/**
 * Takes the lock, which is a numbered file. The process that creates the next number has the lock, and only one can.
 * The file names its owner, since a killed process leaves its file behind; an empty file has no owner. The last number
 * is only ever followed, never removed. If two processes removed the file of a dead one, the second would remove the
 * file that the first has created since.
 */
async function lockIn(directory: string): Promise<(() => Promise<void>) | undefined> {
	await mkdir(directory, { recursive: true, mode: 0o700 });
	const fresh = join(directory, `${randomUUID()}.new`);
	try {
		await writeFile(fresh, JSON.stringify(await identify(process.pid)), { flag: "wx", mode: 0o600 });
		for (let attempt = 0; attempt < 3; attempt++) {
			const last = (await numbersIn(directory)).at(-1) ?? 0;
			const owner = last === 0 ? "" : await readIfThere(join(directory, String(last)));
			if (owner !== undefined && (await isHeld(owner))) return undefined;
			const mine = last + 1;
			const path = join(directory, String(mine));
			// The file is linked once it is complete, so no process reads it without its owner.
			const isMade = owner !== undefined && (await link(fresh, path).then(() => true, unless("EEXIST")));
			if (!isMade) continue;
			const numbers = await numbersIn(directory);
			// A slow process may create a number that existed before and was removed. Others are then ahead of it.
			const isLast = numbers.at(-1) === mine;
			const left = isLast ? numbers.slice(0, -1) : [mine];
			await Promise.all(left.map((number) => rm(join(directory, String(number)), { force: true })));
			// Unlocking writes nothing, so that a full disk does not keep the intent locked.
			if (isLast) return () => truncate(path);
		}
		return undefined;
	} finally {
		await rm(fresh, { force: true });
	}
}

/** Returns the numbers in ascending order. */
async function numbersIn(directory: string): Promise<number[]> {
	const names = await readdir(directory);
	return names
		.filter((name) => /^\d+$/.test(name))
		.map(Number)
		.sort((a, b) => a - b);
}

type Identity = { pid: number; startedAt?: string; uptimeSeconds?: number };

/** Some systems count their uptime in whole seconds, from a start that moves with their clock. */
const uptimeToleranceSeconds = 10;

/** Identifies a process by more than its id, because ids are reused. In a container, that happens after each start. */
async function identify(pid: number): Promise<Identity> {
	// Only Linux reports when a process started. Elsewhere the uptime at least shows whether the machine has restarted
	// since. The clock cannot show that, because it may be set while a process lives.
	if (process.platform !== "linux") return { pid, uptimeSeconds: uptime() };
	const [stat, bootId] = await Promise.all([
		readIfThere(`/proc/${pid}/stat`),
		readIfThere("/proc/sys/kernel/random/boot_id"),
	]);
	// The process's name, in parentheses, may have spaces.
	const [state, ...rest] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
	// A killed process keeps its id until its parent reaps it, which in a container may never happen.
	const isDead = state === "Z" || state === "X";
	return { pid, startedAt: `${bootId?.trim()} ${isDead ? "dead" : rest[18]}` };
}

async function isHeld(owner: string): Promise<boolean> {
	const identity = parseIdentity(owner);
	if (!identity) return false;
	const { pid, startedAt, uptimeSeconds = 0 } = identity;
	try {
		process.kill(pid, 0);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
	}
	const found = await identify(pid);
	const isRestarted = (found.uptimeSeconds ?? uptimeSeconds) < uptimeSeconds - uptimeToleranceSeconds;
	return found.startedAt === startedAt && !isRestarted;
}

/** Returns undefined if the lock was released, or the machine crashed before the owner was on disk. */
function parseIdentity(owner: string): Identity | undefined {
	try {
		return JSON.parse(owner) as Identity;
	} catch {
		return undefined;
	}
}

async function readIfThere(path: string): Promise<string | undefined> {
	return readFile(path, "utf8").catch(unless("ENOENT"));
}

/** Syncs a directory, so that the names in it are on disk. Not every system supports that. */
async function syncDirectory(path: string): Promise<void> {
	const directory = await open(path, "r").catch(unless("EISDIR", "EPERM", "EACCES"));
	try {
		await directory?.sync();
	} catch (error) {
		unless("EPERM", "EINVAL")(error);
	} finally {
		await directory?.close();
	}
}

function unless(...codes: string[]): (error: unknown) => undefined {
	return (error) => {
		if (!codes.includes(String((error as NodeJS.ErrnoException).code))) throw error;
		return undefined;
	};
}
