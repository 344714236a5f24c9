import { createHash, randomUUID } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type ChainDeployment, deploymentSchema } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { connectDevnetChain, devnetChains } from "./devnet-chain.ts";
import { isRunning } from "./is-running.ts";
import { setUpChains } from "./set-up-chains.ts";
import { type Anvil, startAnvil } from "./start-anvil.ts";
import { startOrder } from "./start-order.ts";

/** A chain that is set up, ready to be loaded by a new process. */
export type ChainState = { chainId: number; stateFile: string; deployment: ChainDeployment };

const root = join(import.meta.dirname, "../..");
const cacheFolder = join(root, "node_modules/.cache/geoswap-devnet");

/** All files that decide the state of a chain after its set-up. */
const sources = [
	"contracts/artifacts/*.json",
	"contracts/deploy/**/*.ts",
	"devnet/src/*.ts",
	"devnet/src/cctp/*.ts",
	"packages/protocol/src/**/*.ts",
	"pnpm-lock.yaml",
];

const unusedAfterMs = 7 * 24 * 3_600_000;
const buildTimeoutMs = 60_000;
/** Age of the blocks of a state that was just built. */
const ageSeconds = 3_600;

/**
 * Returns the devnet's chains as files. The first caller sets them up, once per version of the code; others share them.
 */
export async function chainStates(): Promise<ChainState[]> {
	const folder = join(cacheFolder, sourceHash());
	const lock = `${folder}.lock`;
	await mkdir(cacheFolder, { recursive: true });
	const deadline = Date.now() + buildTimeoutMs;
	while (!existsSync(folder)) {
		if (await takeLock(lock)) {
			try {
				if (!existsSync(folder)) await build(folder);
			} finally {
				await rm(lock, { force: true });
			}
		} else {
			if (Date.now() > deadline)
				throw new Error(`another process still holds ${lock}; if none is running, delete it and run again`);
			await sleep(50);
		}
	}
	// The time marks the folder as in use for `clearUnused`.
	await utimes(folder, new Date(), new Date()).catch(() => {});
	const { chains } = deploymentSchema.parse(
		JSON.parse(await readFile(join(folder, "deployment.json"), "utf8")),
	);
	return chains.map((deployment) => ({
		chainId: deployment.chainId,
		stateFile: join(folder, `${deployment.chainId}.json`),
		deployment,
	}));
}

async function build(folder: string): Promise<void> {
	const unfinished = join(cacheFolder, `unfinished-${randomUUID()}`);
	await mkdir(unfinished);
	const order = startOrder();
	try {
		// A node that loads a state has the state of the last block only. A follower skips blocks older than some seconds.
		// If the blocks were young, the follower would request the state of an earlier block.
		const startsAtUnixSeconds = Math.floor(Date.now() / 1_000) - ageSeconds;
		const starting = devnetChains.map(
			({ chainId }) => [chainId, startAnvil({ chainId, startsAtUnixSeconds })] as const,
		);
		const anvils = await order.together<Record<string, Promise<Anvil>>>(Object.fromEntries(starting));
		const chains = await setUpChains(
			Object.entries(anvils).map(([chainId, { url }]) =>
				connectDevnetChain({ chainId: Number(chainId), rpcUrl: url }),
			),
		);
		for (const { chainId, testClient } of chains) {
			const state = await promisify(gunzip)(hexToBytes(await testClient.dumpState()));
			await writeFile(join(unfinished, `${chainId}.json`), state);
		}
		const deployments = chains.map(({ deployment }) => deployment);
		await writeFile(join(unfinished, "deployment.json"), JSON.stringify({ chains: deployments }));
		// The rename makes the folder appear as a whole or not at all.
		await rename(unfinished, folder).catch((error) => {
			// Two processes that both found the lock abandoned have built the same.
			if (!existsSync(folder)) throw error;
		});
	} finally {
		await order.stop();
		await rm(unfinished, { recursive: true, force: true });
	}
	await clearUnused();
}

/** Takes the lock, a file with its holder's process id. A lock whose holder is gone is abandoned. */
async function takeLock(lock: string): Promise<boolean> {
	try {
		await writeFile(lock, String(process.pid), { flag: "wx" });
		return true;
	} catch {
		const holder = Number(await readFile(lock, "utf8").catch(() => ""));
		if (holder > 0 && !isRunning(holder)) await rm(lock, { force: true });
		return false;
	}
}

async function clearUnused(): Promise<void> {
	for (const entry of await readdir(cacheFolder)) {
		const path = join(cacheFolder, entry);
		const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
		if (Date.now() - mtimeMs > unusedAfterMs) await rm(path, { recursive: true, force: true });
	}
}

function sourceHash(): string {
	const hash = createHash("sha256");
	for (const path of sources.flatMap((pattern) => globSync(pattern, { cwd: root })).sort()) {
		if (path.endsWith(".test.ts")) continue;
		hash
			.update(relative(root, join(root, path)))
			.update("\0")
			.update(readFileSync(join(root, path)))
			.update("\0");
	}
	return hash.digest("hex").slice(0, 32);
}
