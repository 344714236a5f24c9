import { parseUnits } from "viem";
import { percentile } from "../measure/percentile.ts";
import { processorMs } from "../measure/process-figures.ts";
import { type BenchRow, benchRow } from "./bench-row.ts";
import { runLoad } from "./run-load.ts";
import type { Bench } from "./start-bench.ts";

const turns = 8;
/** Long enough for the measured code to be compiled. */
const warmUpMs = 2_000;

/** Measures warm quotes and their bare twin in turns, so that other load on the machine affects both. */
export async function measureQuotes({ environment, bare }: Bench, durationMs: number): Promise<BenchRow[]> {
	const { baseUrl, apiKey, origin, destination, stack } = environment;
	const body = JSON.stringify({
		originChain: origin.chainId,
		destinationChain: destination.chainId,
		inputToken: origin.deployment.settlementToken,
		outputToken: destination.deployment.wrappedNative,
		amount: String(parseUnits("100", 6)),
		walletAddress: "0x00000000000000000000000000000000000a11ce",
	});
	const sides = {
		bare: { url: bare.http.url, pid: bare.http.process.pid ?? 0 },
		service: { url: baseUrl, pid: stack.processes.api.pid ?? 0 },
	};
	const measure = async (name: keyof typeof sides, turnMs: number) => {
		const { url, pid } = sides[name];
		const usedMs = processorMs(pid);
		const { perSecond, answered, refused } = await runLoad({
			kind: "requests",
			url: `${url}/swap/quote`,
			headers: { "content-type": "application/json", "x-api-key": apiKey },
			body,
			inFlight: 32,
			durationMs: turnMs,
		});
		if (refused > 0) throw new Error(`${refused} quotes of ${name} were refused`);
		return { perSecond, processorUs: ((processorMs(pid) - usedMs) * 1_000) / answered };
	};
	const measured = {
		bare: [] as Awaited<ReturnType<typeof measure>>[],
		service: [] as Awaited<ReturnType<typeof measure>>[],
	};
	for (const name of ["bare", "service"] as const) await measure(name, warmUpMs);
	for (let turn = 0; turn < turns; turn++) {
		for (const name of ["bare", "service"] as const)
			measured[name].push(await measure(name, durationMs / turns));
	}
	const row = benchRow(
		`warm quotes, 32 in flight, medians of ${turns} turns`,
		"Fastify, the same request schema (zod), a JWE as large (jose), an answer as large; no key, limit, price",
	);
	const median = (name: keyof typeof sides, key: "perSecond" | "processorUs") =>
		percentile(
			measured[name].map((turn) => turn[key]),
			50,
		);
	return [
		row("answered by one process", "/s", median("service", "perSecond"), median("bare", "perSecond")),
		row("processor time of each", "µs", median("service", "processorUs"), median("bare", "processorUs")),
	];
}
