import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { portSource, type ServiceProcess } from "@geoswap/devnet";
import { createClient } from "@geoswap/sdk";
import { signSwap, submitSigned } from "../caller/do-swap.ts";
import { apiBeside } from "../environment/api-beside.ts";
import { connectionsTo, forgetPeak, peakResidentBytes } from "../measure/process-figures.ts";
import { holdBack } from "../trouble/hold-back.ts";
import { type BenchRow, benchRow } from "./bench-row.ts";
import { memoryInUse, tellingMemory } from "./memory-in-use.ts";
import { holdRequests } from "./run-load.ts";
import { amountOfDepth, type Bench } from "./start-bench.ts";
import { usdcIntent } from "./usdc-intent.ts";

const amount = amountOfDepth[1];

/** Measures the memory that a held status call takes in an API process, and in its bare twin. */
export async function measureHeld({ environment, bare }: Bench, count: number): Promise<BenchRow[]> {
	const { origin, deployment: pins, baseUrl, apiKey, databaseUrl, logDir } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const caller = { client: createClient({ baseUrl, apiKey }), pins, account };
	const signed = await signSwap(caller, usdcIntent(environment, { account, amount }));
	const { swapId } = signed.quote;
	const { release } = await holdBack(databaseUrl, swapId);
	const memoryFile = join(logDir, "held-api-memory.json");
	const api = apiBeside(environment, {
		name: "held-api",
		port: await portSource()(),
		nodeOptions: tellingMemory(memoryFile),
	});
	try {
		await api.start();
		await submitSigned(caller, signed);
		const calls = { path: `/swap/status/${swapId}`, headers: { "x-api-key": apiKey }, count };
		const ofBare = await bytesPerHeld(bare.http, calls);
		const ofService = await bytesPerHeld({ url: api.baseUrl, process: api, memoryFile }, calls);
		const row = benchRow(`by itself, ${count} held`, "Fastify with a timer");
		return [
			row("memory in use of a held status call, garbage collected", "bytes", ofService.inUse, ofBare.inUse),
			row("  resident at most, garbage included", "bytes", ofService.resident, ofBare.resident),
		];
	} finally {
		await api.stop();
		await release();
	}
}

/**
 * Measures in two rounds. A garbage collection leaves pages that the process keeps and fills again, so after one the
 * growth of resident memory means nothing.
 */
async function bytesPerHeld(
	{ url, process, memoryFile }: { url: string; process: ServiceProcess; memoryFile: string },
	{ path, headers, count }: { path: string; headers: Record<string, string>; count: number },
): Promise<{ inUse: number; resident: number }> {
	const { pid = 0 } = process;
	const port = Number(new URL(url).port);
	const others = connectionsTo(port);
	/** Returns the growth while `many` calls are held. Throws if they were not held throughout. */
	const grownBy = async (many: number, read: () => number | Promise<number>): Promise<number> => {
		forgetPeak(pid);
		const before = await read();
		const { release } = await holdRequests({ kind: "hold", url: url + path, headers, count: many });
		const areHeld = () => connectionsTo(port) >= many;
		await until(areHeld, `${process.name} could not hold ${many} calls`);
		const after = await read();
		if (!areHeld()) throw new Error(`${process.name} ended calls while its memory was read`);
		await release();
		await until(
			() => connectionsTo(port) <= others,
			`${process.name} does not release calls that have ended`,
		);
		return after - before;
	};
	/** Reads the peak, because resident memory may shrink while calls are held, due to earlier work. */
	const resident = () => peakResidentBytes(pid);
	// A warm-up, because some memory is allocated only once, at the first calls.
	await grownBy(Math.ceil(count / 5), resident);
	return {
		resident: (await grownBy(count, resident)) / count,
		inUse: (await grownBy(count, () => memoryInUse(process, memoryFile))) / count,
	};
}

async function until(isSo: () => boolean, problem: string): Promise<void> {
	for (const deadline = performance.now() + 10_000; !isSo(); await sleep(50))
		if (performance.now() > deadline) throw new Error(problem);
	// The connections are accepted or closed, but the process may not have handled that yet.
	await sleep(500);
}
