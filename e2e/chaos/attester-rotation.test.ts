import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { portSource, type ServiceProcess, serverCommand, serverMain, serviceProcess } from "@geoswap/devnet";
import { type Deployment, deploymentSchema } from "@geoswap/protocol";
import { type Client, getChains, VerificationError } from "@geoswap/sdk";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { countStatuses, planMixedSwap } from "../caller/mixed-swaps.ts";
import { newWalletSwapsThrough, type TimedSwap } from "../caller/swap-through.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import { startWorkerBeside } from "../environment/start-worker-beside.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { ownEnvironment } from "../own-environment.ts";

/** Number of swaps that begin in each phase, and number in flight. */
const swapsEach = 20;
const streamCount = 8;
const decidedWithinMs = 240_000;
const patience = { timeout: 240_000, interval: 500 };

const environmentOf = ownEnvironment();

test("when an attester's key is replaced as in docs/signers.md with orders in flight, every swap settles, by the old set or the new one", async () => {
	const environment = environmentOf();
	const { serverEnvironment, stack } = environment;
	const client = await environment.newClient();
	const { api, worker, attesters } = stack.processes;
	const [old, ...kept] = attesters;
	if (!old) throw new Error("a stack has attesters");
	const configFile = serverEnvironment.GEOSWAP_CONFIG ?? "";
	const folder = dirname(configFile);

	/** The caller's own copy of the deployment file, which it gets from the operator. */
	let pins = environment.deployment;
	let begun = 0;
	let isRotating = true;
	onTestFinished(() => {
		isRotating = false;
	});
	const swapping = Promise.all(
		Array.from({ length: streamCount }, async () => {
			const ended: TimedSwap[] = [];
			while (isRotating) {
				const plan = await planMixedSwap(environment, begun++);
				ended.push(
					await swapPinned(() => newWalletSwapsThrough({ ...environment, deployment: pins }, client, plan)),
				);
			}
			return ended;
		}),
	);
	/** Waits until more swaps were made. If the stream of swaps breaks, the wait ends too. */
	const swapsPass = async () => {
		const goal = begun + swapsEach;
		const passing = (async () => {
			while (isRotating && begun < goal) await sleep(100);
		})();
		await Promise.race([swapping, passing]);
	};
	await swapsPass();

	// The new key, and the files with the new set.
	const key = generatePrivateKey();
	const oldAddress = (await health(folder, "attester-1")).attester;
	const next = join(folder, "deployment-next.json");
	const replaced = ["attesters", "replace", "--deployment", join(folder, "deployment.json"), "--out", next];
	const { earlierAttesterSets } = JSON.parse(
		await serverCommand(serverEnvironment, [
			...replaced,
			...["--old", oldAddress, "--new", privateKeyToAddress(key), "--json"],
		]),
	);
	const changes = { deployment: "deployment-next.json", earlierAttesterSets };

	// Attesters first, one at a time, so that enough attesters of both sets are always there.
	const fresh = await startNewAttester({ folder, key, changes });
	for (const [i, attester] of kept.entries()) {
		change(join(folder, `attester-${i + 2}.json`), changes);
		await attester.stop();
		await attester.start();
	}
	await swapsPass();

	// Then the workers, which also query the new attester, and then the API, which makes orders of the new set.
	const config = JSON.parse(readFileSync(configFile, "utf8"));
	change(configFile, { ...changes, attesters: [...config.attesters, { url: fresh.url }] });
	const second = await startWorkerBeside(environment, { name: "worker-2" });
	onTestFinished(() => second.stop());
	await worker.stop();
	await swapsPass();
	await worker.start();
	const deployment: Deployment = deploymentSchema.parse(JSON.parse(readFileSync(next, "utf8")));
	await api.stop();
	await api.start();
	await expect.poll(() => offeredSets(client), patience).toEqual(setsOf(deployment));
	pins = deployment;
	await swapsPass();

	// The old attester is stopped when no swap in flight has its set in its order.
	const unended = async () => {
		const sets: { isCurrent: boolean; unended: number }[] = JSON.parse(await listSets());
		return sets.filter(({ isCurrent }) => !isCurrent).map((set) => set.unended);
	};
	await expect.poll(unended, patience).toEqual([0]);
	await old.stop();
	await swapsPass();
	isRotating = false;
	const swaps = (await swapping).flat();
	const bySet = await countBySet();
	console.log(`${swaps.length} swaps while an attester was replaced:`, countStatuses(swaps), bySet);
	expect(countStatuses(swaps)).toEqual({ settled: swaps.length, failed: 0, refunded: 0 });
	for (const { attesterSet } of [...environment.deployment.chains, ...deployment.chains])
		expect(bySet[attesterSet.hash]).toBeGreaterThan(swapsEach / 4);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, swaps);
});

/** Swaps again if the pins are no longer those of the service, since nothing was signed then. */
async function swapPinned(swap: () => Promise<TimedSwap>): Promise<TimedSwap> {
	for (const deadline = performance.now() + patience.timeout; ; await sleep(patience.interval)) {
		try {
			return await swap();
		} catch (error) {
			const isOtherSet = error instanceof VerificationError && /attesterSet|hash/i.test(error.field);
			if (!isOtherSet || performance.now() > deadline) throw error;
		}
	}
}

async function startNewAttester({
	folder,
	key,
	changes,
}: {
	folder: string;
	key: string;
	changes: object;
}): Promise<{ url: string }> {
	const { logDir, serverEnvironment } = environmentOf();
	const port = await portSource()();
	const config = join(folder, "attester-new.json");
	writeFileSync(config, readFileSync(join(folder, "attester-1.json")));
	change(config, { ...changes, port });
	const url = `http://127.0.0.1:${port}`;
	const { PATH = "", HOME = "" } = serverEnvironment;
	const attester: ServiceProcess = serviceProcess({
		name: "attester-new",
		command: process.execPath,
		args: [serverMain, "attester", "--config", config],
		env: { PATH, HOME, GEOSWAP_ATTESTER_KEY: key },
		logFile: join(logDir, "attester-new.log"),
		isReady: async () => (await fetch(`${url}/health`)).ok,
	});
	await attester.start();
	onTestFinished(() => attester.stop());
	return { url };
}

function change(file: string, changes: object): void {
	writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...changes }, null, "\t"));
}

async function health(folder: string, name: string): Promise<{ attester: string }> {
	const { port } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
	return (await fetch(`http://127.0.0.1:${port}/health`)).json() as Promise<{ attester: string }>;
}

/** Returns the attester sets that the API puts into new orders, by chain. */
async function offeredSets(client: Client): Promise<Record<string, string>> {
	const { chains } = await getChains(client);
	return Object.fromEntries(
		chains.flatMap(({ chainId, contracts }) =>
			"attesterSet" in contracts ? [[chainId, contracts.attesterSet]] : [],
		),
	);
}

function setsOf({ chains }: Deployment): Record<string, string> {
	return Object.fromEntries(chains.map(({ chainId, attesterSet }) => [chainId, attesterSet.hash]));
}

/** Returns what `geoswapd attesters sets` prints. It exits with 3 while a retired set is needed. */
async function listSets(): Promise<string> {
	const { serverEnvironment } = environmentOf();
	return serverCommand(serverEnvironment, ["attesters", "sets", "--json"]).catch((error: Error) =>
		error.message.slice(error.message.indexOf("[")),
	);
}

/** Counts the swaps from EVM chains by the attester set in their orders. */
async function countBySet(): Promise<Record<string, number>> {
	const database = await connectDatabase(environmentOf().databaseUrl);
	try {
		const rows = await database.query<{ set: string; count: number }>(
			"select order_terms->>'attesterSet' as set, count(*)::int as count from swaps group by 1",
		);
		return Object.fromEntries(rows.map(({ set, count }) => [set, count]));
	} finally {
		await database.end();
	}
}
