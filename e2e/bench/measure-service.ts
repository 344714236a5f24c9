import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
	baseEnvironment,
	portSource,
	type ServiceProcess,
	serverMain,
	serviceProcess,
} from "@geoswap/devnet";
import { createClient } from "@geoswap/sdk";
import { parseUnits } from "viem";
import { signSwap, submitSigned, swapIntent } from "../do-swap.ts";
import { type OwnEnvironment, startEnvironment } from "../environment.ts";
import { holdBack } from "../hold-back.ts";
import { percentile } from "../percentile.ts";
import { openFiles, residentBytes } from "../process-figures.ts";
import { holdRequests, runLoad } from "./run-load.ts";
import type { RequestsResult } from "./send-requests.ts";

/** A figure of the service beside its bare twin's, measured in the same run. */
export type BenchRow = { what: string; unit: string; service: number; bare: number; bareIs: string };

export type BenchSize = {
	quoteMs: number;
	alone: number;
	inFlight: number;
	together: number;
	workflowMs: number;
	held: number;
};

/** About the bytes of a quote that are sealed. */
const sealedBytes = 1_400;
/** Until the code that is measured has been compiled. */
const warmUpMs = 500;
const amount = parseUnits("100", 6);

/** Starts everything that is measured, and stops it. */
export async function measureService(size: BenchSize, say: (line: string) => void): Promise<BenchRow[]> {
	say("starting the service");
	const unlimited = 1_000_000;
	const operations = ["quote", "build", "submit", "delegation", "status"];
	const environment = await startEnvironment({
		configure: (config) => ({
			...config,
			api: {
				...(config.api as object),
				rates: Object.fromEntries(operations.map((operation) => [operation, unlimited])),
				heldStatusCalls: unlimited,
			},
			logLevel: "warn",
			// As it is by default: a trace of each request is a cost of its own.
			telemetry: {},
		}),
	});
	const bare: ServiceProcess[] = [];
	try {
		const nextPort = portSource();
		const startBare = async (file: string, isReady: (port: number) => Promise<boolean>) => {
			const port = await nextPort();
			const started = serviceProcess({
				name: file,
				command: process.execPath,
				args: [join(serverMain, "../../bench", file), String(port)],
				env: { ...baseEnvironment(), TOKEN_BYTES: String(sealedBytes) },
				logFile: join(environment.logDir, `${file}.log`),
				isReady: () => isReady(port),
			});
			bare.push(started);
			await started.start();
			return { url: `http://127.0.0.1:${port}`, process: started };
		};
		const http = await startBare(
			"bare-http.ts",
			async (port) => (await fetch(`http://127.0.0.1:${port}/ready`)).ok,
		);
		await startBare("bare-workflow.ts", (port) => register(environment, `http://127.0.0.1:${port}`));

		say("held status calls");
		const held = await measureHeld(environment, { bare: http, count: size.held });
		say("quotes");
		const quotes = await measureQuotes(environment, { bareUrl: http.url, durationMs: size.quoteMs });
		say("swaps, one at a time");
		const alone = await measureSwaps(environment, { count: size.alone, inFlight: 1 });
		say(`swaps, ${size.inFlight} at a time`);
		const together = await measureSwaps(environment, { count: size.together, inFlight: size.inFlight });
		say("bare workflows");
		const workflows = await runLoad({
			kind: "requests",
			url: `${environment.stack.ingressUrl}/bare/{n}/run`,
			...{ headers: {}, body: "", inFlight: size.inFlight, durationMs: size.workflowMs },
		});
		const throughput = {
			what: `swaps settled, ${size.inFlight} in flight`,
			unit: "/s",
			service: together.settledPerSecond,
			bare: unrefused("bare workflow", workflows),
			bareIs: "workflows of five empty steps on the same engine",
		};
		return [quotes, ...alone.rows, ...together.rows, throughput, held];
	} finally {
		for (const one of bare) await one.stop();
		await environment.stop();
	}
}

async function measureQuotes(
	{ baseUrl, apiKey, origin, destination }: OwnEnvironment,
	{ bareUrl, durationMs }: { bareUrl: string; durationMs: number },
): Promise<BenchRow> {
	const body = JSON.stringify({
		originChain: origin.chainId,
		destinationChain: destination.chainId,
		inputToken: origin.deployment.settlementToken,
		outputToken: destination.deployment.wrappedNative,
		amount: String(amount),
		walletAddress: "0x00000000000000000000000000000000000a11ce",
	});
	const load = (url: string, turnMs = durationMs / 2) =>
		runLoad({
			kind: "requests",
			url: `${url}/swap/quote`,
			headers: { "content-type": "application/json", "x-api-key": apiKey },
			...{ body, inFlight: 32, durationMs: turnMs },
		});
	for (const url of [bareUrl, baseUrl]) await load(url, warmUpMs);
	const perSecond = { service: 0, bare: 0 };
	// By turns, so that what else the machine does meets both.
	for (let turn = 0; turn < 2; turn++) {
		perSecond.bare += unrefused("bare quote", await load(bareUrl)) / 2;
		perSecond.service += unrefused("quote", await load(baseUrl)) / 2;
	}
	const bareIs = "Fastify, the same schema and seal, no key, no limit, no price";
	return { what: "warm quotes", unit: "/s", ...perSecond, bareIs };
}

async function measureSwaps(
	{ address }: OwnEnvironment,
	{ count, inFlight }: { count: number; inFlight: number },
): Promise<{ rows: BenchRow[]; settledPerSecond: number }> {
	const { swapMs, bareMs, settled, settledPerSecond } = await runLoad({
		kind: "swaps",
		environment: address,
		count,
		inFlight,
	});
	if (settled !== count) throw new Error(`${count - settled} of ${count} swaps did not settle`);
	const rows = [50, 95].map((percent) => ({
		what: `submit to settled, ${inFlight} in flight, p${percent} of ${count}`,
		unit: "ms",
		service: percentile(swapMs, percent),
		bare: percentile(bareMs, percent),
		bareIs: "two transactions in sequence on the same chains, to their receipts",
	}));
	return { rows, settledPerSecond };
}

async function measureHeld(
	environment: OwnEnvironment,
	{ bare, count }: { bare: { url: string; process: ServiceProcess }; count: number },
): Promise<BenchRow> {
	const { origin, destination, deployment: pins, baseUrl, apiKey, databaseUrl, stack } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const caller = { client: createClient({ baseUrl, apiKey }), pins, account };
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
		account,
	});
	const signed = await signSwap(caller, intent);
	const { swapId } = signed.quote;
	const { release } = await holdBack(databaseUrl, swapId);
	try {
		await submitSigned(caller, signed);
		const headers = { "x-api-key": apiKey };
		const path = `/swap/status/${swapId}`;
		return {
			what: `memory of a held status call, ${count} held`,
			unit: "bytes",
			bare: await bytesPerHeld(bare.process, { url: bare.url + path, headers, count }),
			service: await bytesPerHeld(stack.processes.api, { url: baseUrl + path, headers, count }),
			bareIs: "Fastify with a timer",
		};
	} finally {
		await release();
	}
}

async function bytesPerHeld(
	{ pid = 0 }: ServiceProcess,
	{ url, headers, count }: { url: string; headers: Record<string, string>; count: number },
): Promise<number> {
	const filesBefore = openFiles(pid);
	const until = async (isSo: () => boolean) => {
		for (const deadline = performance.now() + 10_000; !isSo() && performance.now() < deadline; )
			await sleep(50);
		// Accepted or closed; the process has yet to deal with it.
		await sleep(500);
	};
	// What a process takes at its first calls, it takes once.
	const warmUp = await holdRequests({ kind: "hold", url, headers, count: Math.ceil(count / 5) });
	await warmUp.release();
	await until(() => openFiles(pid) <= filesBefore);
	const bytesBefore = residentBytes(pid);
	const { release } = await holdRequests({ kind: "hold", url, headers, count });
	await until(() => openFiles(pid) >= filesBefore + count);
	const bytes = residentBytes(pid) - bytesBefore;
	await release();
	return bytes / count;
}

async function register({ adminUrl }: OwnEnvironment, uri: string): Promise<boolean> {
	const response = await fetch(`${adminUrl}/deployments`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ uri, force: true }),
	});
	return response.ok;
}

function unrefused(what: string, { perSecond, refused }: RequestsResult): number {
	if (refused > 0) throw new Error(`${what}: ${refused} requests were refused`);
	return perSecond;
}
