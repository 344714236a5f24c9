import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { uptime } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { SwapStore } from "./swap-store.ts";

/**
 * A file for each intent in a directory that nobody else needs to read. It outlives a crash of the process and of the
 * machine. Several processes may share it that see each other, on one machine and in one container: whether the owner of
 * a lock lives is asked by his process number.
 */
export function fileStore(directory: string): SwapStore {
	const root = resolve(directory);
	let made: Promise<void> | undefined;
	const pathOf = async (id: string) => {
		made ??= makeDirectory(root).catch((error: unknown) => {
			// Once it can be made it is.
			made = undefined;
			throw error;
		});
		await made;
		// Any text may be an id; not any text may be a file's name, and some systems know no case.
		const isName = /^[a-z\d_-]{1,63}$/.test(id);
		return join(root, isName ? id : createHash("sha256").update(id).digest("hex"));
	};

	return {
		get: async (id) => readIfThere(`${await pathOf(id)}.json`),
		set: async (id, text) => {
			const path = await pathOf(id);
			const fresh = `${path}.${randomUUID()}.new`;
			// Whole or not at all: what is half written has no name that anybody reads.
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

/** Itself and all above it that were not there, each on the disk before anything is kept in it. */
async function makeDirectory(path: string): Promise<void> {
	const first = await mkdir(path, { recursive: true, mode: 0o700 });
	if (first === undefined) return;
	for (let made = path; ; made = dirname(made)) {
		await syncDirectory(dirname(made));
		if (made === first || made === dirname(made)) return;
	}
}

/**
 * Numbered files: who makes the next number has the lock, and only one can. It says whose it is, for who was killed leaves
 * his behind; one that is empty is nobody's. The last number is only ever followed, never removed: of two that remove what a dead one left, the second
 * would remove what the first has made since.
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
			// Never seen without its owner's name in it.
			const isMade = owner !== undefined && (await link(fresh, path).then(() => true, unless("EEXIST")));
			if (!isMade) continue;
			const numbers = await numbersIn(directory);
			// Who is slow makes a number that was there before, and was removed since: others are ahead of him.
			const isLast = numbers.at(-1) === mine;
			const left = isLast ? numbers.slice(0, -1) : [mine];
			await Promise.all(left.map((number) => rm(join(directory, String(number)), { force: true })));
			// Nothing is written: a disk that is full must not keep it locked.
			if (isLast) return () => truncate(path);
		}
		return undefined;
	} finally {
		await rm(fresh, { force: true });
	}
}

/** From the least to the greatest. */
async function numbersIn(directory: string): Promise<number[]> {
	const names = await readdir(directory);
	return names
		.filter((name) => /^\d+$/.test(name))
		.map(Number)
		.sort((a, b) => a - b);
}

type Identity = { pid: number; startedAt?: string; uptimeSeconds?: number };

/** Some systems count in whole seconds, from a start that moves with their clock. */
const uptimeToleranceSeconds = 10;

/** Numbers of processes come again, in a container after each start. */
async function identify(pid: number): Promise<Identity> {
	// Only Linux tells when a process began. Elsewhere it is known at least that it did not outlive its machine, by how long
	// that has been running: a clock may be set while a process lives.
	if (process.platform !== "linux") return { pid, uptimeSeconds: uptime() };
	const [stat, bootId] = await Promise.all([
		readIfThere(`/proc/${pid}/stat`),
		readIfThere("/proc/sys/kernel/random/boot_id"),
	]);
	// Its name, in brackets, may have spaces.
	const [state, ...rest] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
	// One that was killed has its number until somebody asks what became of it, which in a container may be nobody.
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

/** None where it was released, or where the machine fell before it was on the disk. */
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

/** A name in a directory is on the disk once the directory is. Not every system lets one ask for that. */
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
