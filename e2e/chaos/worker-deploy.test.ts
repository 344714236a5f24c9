import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "@geoswap/devnet";
import { expect, onTestFinished, test } from "vitest";
import { countStatuses, planMixedSwap } from "../caller/mixed-swaps.ts";
import { newWalletSwapsThrough, type TimedSwap } from "../caller/swap-through.ts";
import { knownWorkers, newestWorker, startWorkerBeside } from "../environment/start-worker-beside.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { type Stalls, watchStalls } from "../measure/watch-stalls.ts";
import { ownEnvironment } from "../own-environment.ts";

/** Number of swaps submitted on each version before the next one, and number in flight. */
const swapsEach = 100;
const streamCount = 20;

const decidedWithinMs = 120_000;
/** Time for which work may be due while a new version takes over from one that received SIGTERM. */
const upgradeStallMs = 2_000;
/** The same if the newest worker is killed while another one runs. */
const killStallMs = 4_000;

const environmentOf = ownEnvironment();

test("when a new worker takes over under load, and is then killed beside another, every swap settles and no work waits for long", async () => {
	const environment = environmentOf();
	const { adminUrl, databaseUrl } = environment;
	const client = await environment.newClient();
	const { worker: first } = environment.stack.processes;

	let submitted = 0;
	let isDeploying = true;
	onTestFinished(() => {
		isDeploying = false;
	});
	const swapping = Promise.all(
		Array.from({ length: streamCount }, async () => {
			const ended: TimedSwap[] = [];
			while (isDeploying) {
				const plan = await planMixedSwap(environment, submitted++);
				ended.push(await newWalletSwapsThrough(environment, client, plan));
			}
			return ended;
		}),
	);
	// A broken stream ends the wait for the swaps that it would have made.
	const swapsPass = () => Promise.race([swapping, countTo(submitted + swapsEach)]);
	const countTo = async (goal: number) => {
		while (isDeploying && submitted < goal) await sleep(100);
	};

	await swapsPass();
	const upgrading = await watchStalls(databaseUrl);
	const second = await startBeside("worker-2");
	const { how, tookMs } = await leave(first);
	await swapsPass();
	const upgradeStalls = await upgrading();

	const third = await startBeside("worker-3");
	await swapsPass();
	const thirdAddress = await newestWorker(adminUrl);
	const killing = await watchStalls(databaseUrl);
	// The worker dies in the middle of its handlers and never returns. The engine retries them at its address until
	// another worker starts.
	third.kill("SIGKILL");
	await swapsPass();
	const killStalls = await killing();
	isDeploying = false;
	const swaps = (await swapping).flat();
	console.log(
		`${swaps.length} swaps; the first worker was gone after ${Math.round(tookMs)} ms;`,
		`${told(upgradeStalls)} while a new version took over; ${told(killStalls)} after kill -9;`,
		`${linesOf(second, "done by this worker's tick").length} handlers were run by the other worker's tick`,
	);
	expect(how).toBe("exit code 0");
	expect(linesOf(first, "this worker is no longer registered with the engine")).toHaveLength(1);
	expect(countStatuses(swaps)).toEqual({ settled: swaps.length, failed: 0, refunded: 0 });
	expect(longest(upgradeStalls)).toBeLessThan(upgradeStallMs);
	expect(longest(killStalls)).toBeLessThan(killStallMs);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, swaps);

	// The next worker that starts removes the dead one. An abandoned address can be used again.
	await first.start();
	await expect.poll(() => newestWorker(adminUrl), { timeout: 30_000 }).not.toBe(thirdAddress);
	await expect.poll(() => knownWorkers(adminUrl), { timeout: 30_000 }).not.toContain(thirdAddress);
	expect(await leave(second)).toMatchObject({ how: "exit code 0" });
	expect(await knownWorkers(adminUrl)).toEqual([await newestWorker(adminUrl)]);
});

async function startBeside(name: string): Promise<ServiceProcess> {
	const worker = await startWorkerBeside(environmentOf(), { name });
	onTestFinished(() => worker.stop());
	return worker;
}

function told({ swapMs, jobMs, lateMs }: Stalls): string {
	return `a swap was due for ${swapMs} ms at most and a job waited ${jobMs} ms (looks came ${lateMs} ms late)`;
}

function longest({ swapMs, jobMs }: Stalls): number {
	return Math.max(swapMs, jobMs);
}

function linesOf({ logFile }: ServiceProcess, text: string): string[] {
	return readFileSync(logFile, "utf8")
		.split("\n")
		.filter((line) => line.includes(text));
}

/** Sends SIGTERM once, and waits for the worker to exit. */
async function leave(worker: ServiceProcess): Promise<{ how: string | undefined; tookMs: number }> {
	const toldAt = performance.now();
	const exited = worker.exited();
	worker.kill("SIGTERM");
	return { how: await exited, tookMs: performance.now() - toldAt };
}
