import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "@geoswap/devnet";
import { expect, onTestFinished, test } from "vitest";
import { expectBooksExact } from "../expect-books-exact.ts";
import { expectExact } from "../expect-exact.ts";
import { countStatuses, planMixedSwap } from "../mixed-swaps.ts";
import { ownEnvironment } from "../own-environment.ts";
import { knownWorkers, newestWorker, startWorkerBeside } from "../start-worker-beside.ts";
import { newWalletSwapsThrough, type TimedSwap } from "../swap-through.ts";

/** How many swaps are submitted on each version before the next one comes, and at once. */
const { swapsEach, streamCount } = process.env.GEOSWAP_FULL
	? { swapsEach: 100, streamCount: 20 }
	: { swapsEach: 6, streamCount: 6 };

const decidedWithinMs = 120_000;

const environmentOf = ownEnvironment();

test("two new versions of the worker in a row, under load, the second over one that is killed: every swap settles, and whoever is told to leave leaves nothing behind", async () => {
	const environment = environmentOf();
	const { adminUrl } = environment;
	const client = await environment.newClient();
	const { worker: first } = environment.stack.processes;

	let submitted = 0;
	let isDeploying = true;
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
	// Nobody waits for it while the others are deployed.
	swapping.catch(() => {});
	const swapsPass = async () => {
		for (const goal = submitted + swapsEach; submitted < goal; ) await sleep(100);
	};

	await swapsPass();
	const beganAt = performance.now();
	const second = await startBeside("worker-2");
	const firstGone = leave(first);
	await swapsPass();
	const secondAddress = await newestWorker(adminUrl);
	const third = await startBeside("worker-3");
	// In the middle of its swaps and of its lanes' work, and never to return.
	second.kill("SIGKILL");
	await swapsPass();
	isDeploying = false;

	const { how, tookMs } = await firstGone;
	const swaps = (await swapping).flat();
	console.log(
		`${swaps.length} swaps over two new versions; the first was gone after ${Math.round(tookMs)} ms;`,
		`all settled ${Math.round(performance.now() - beganAt)} ms after the second came;`,
		`${linesOf(third, "taken over").length} executions were taken over from the second`,
	);
	expect(how).toBe("exit code 0");
	expect(linesOf(first, "drained: the engine has forgotten this worker")).toHaveLength(1);
	expect(countStatuses(swaps)).toEqual({ settled: swaps.length, failed: 0, refunded: 0 });
	const thirdAddress = await newestWorker(adminUrl);
	expect((await knownWorkers(adminUrl)).toSorted()).toEqual([secondAddress, thirdAddress].toSorted());
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, swaps);

	// An address that was drained can be used again.
	await first.start();
	await expect.poll(() => newestWorker(adminUrl), { timeout: 30_000 }).not.toBe(thirdAddress);
	expect(await leave(third)).toMatchObject({ how: "exit code 0" });
	expect(await knownWorkers(adminUrl)).not.toContain(thirdAddress);
});

async function startBeside(name: string): Promise<ServiceProcess> {
	const worker = await startWorkerBeside(environmentOf(), { name });
	onTestFinished(() => worker.stop());
	return worker;
}

function linesOf({ logFile }: ServiceProcess, text: string): string[] {
	return readFileSync(logFile, "utf8")
		.split("\n")
		.filter((line) => line.includes(text));
}

/** Tells a worker to stop, once. */
async function leave(worker: ServiceProcess): Promise<{ how: string | undefined; tookMs: number }> {
	const toldAt = performance.now();
	const exited = worker.exited();
	worker.kill("SIGTERM");
	return { how: await exited, tookMs: performance.now() - toldAt };
}
