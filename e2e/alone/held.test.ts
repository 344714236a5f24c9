import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { serverCommand } from "@geoswap/devnet";
import { newSwapUuid, orderToJson, type SwapUuid, toSwapId } from "@geoswap/protocol";
import { createClient } from "@geoswap/sdk";
import { privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import type { PollResult } from "../bench/poll-all.ts";
import { startPolling } from "../bench/run-load.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { timeQuotes } from "../caller/time-quotes.ts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import { percentile } from "../measure/percentile.ts";
import { openFiles, processorMs, residentBytes } from "../measure/process-figures.ts";
import { ownEnvironment } from "../own-environment.ts";
import { assetAddress, makeOrder } from "../wallet/make-order.ts";

/**
 * A process may have 20,000 open files. This also limits the callers' processes, so there are several of those, each
 * with an address.
 */
const size = process.env.GEOSWAP_FULL
	? { held: 15_000, callers: 4, perSecond: 500, measureMs: 30_000, woken: 2_000 }
	: { held: 1_500, callers: 2, perSecond: 1_000, measureMs: 12_000, woken: 400 };
const quotes = { perSecond: 15, durationMs: size.measureMs };
const holdMs = 15_000;

const environmentOf = ownEnvironment({
	// As in production, because logging and tracing everything has its own cost.
	configure: (config) => ({ ...config, logLevel: "warn", telemetry: {} }),
});

test("1,500 callers who connect while the process is halted need no second attempt", async () => {
	const { baseUrl, stack } = environmentOf();
	const { hostname: host, port } = new URL(baseUrl);
	const { api } = stack.processes;
	api.kill("SIGSTOP");
	const sockets = Array.from({ length: 1_500 }, () => connect({ host, port: Number(port) }));
	try {
		await expect.poll(() => sockets.filter((socket) => socket.connecting).length).toBe(0);
	} finally {
		api.kill("SIGCONT");
		for (const socket of sockets) socket.destroy();
	}
	expect((await fetch(`${baseUrl}/ready`)).status).toBe(200);
});

test(`one process holds ${size.held} status calls, answers each when its swap ends, and keeps quoting`, async () => {
	const { baseUrl, databaseUrl, serverEnvironment, stack, origin, destination } = environmentOf();
	const { apiKey, accountId } = JSON.parse(
		await serverCommand(serverEnvironment, [
			...["keys", "create", "--account", "holder", "--json"],
			// The limit is exact, so a lease that is not given back makes a later call return early.
			...["--held", String(size.held), "--rate", "status=100000"],
		]),
	);
	const pid = stack.processes.api.pid ?? 0;
	const database = await connectDatabase(databaseUrl);
	onTestFinished(() => database.end());
	const uuids = await insertSwaps(database, { count: size.held, accountId });

	const from = { chain: origin, token: "USDC", amount: 100_000_000n };
	const wallet = privateKeyToAccount(`0x${"a1".repeat(32)}`);
	const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account: wallet });
	const quoting = createClient({ baseUrl, apiKey });
	await timeQuotes(quoting, intent, { ...quotes, durationMs: 1_000 });
	const calm = await timeQuotes(quoting, intent, { ...quotes, durationMs: 4_000 });

	const before = { files: openFiles(pid), bytes: residentBytes(pid) };
	const rampMs = (1_000 * size.held) / size.perSecond;
	const startedAt = performance.now();
	const share = Math.ceil(size.held / size.callers);
	const polling = Array.from({ length: size.callers }, (_, i) =>
		startPolling({
			kind: "poll",
			baseUrl,
			apiKey,
			address: `127.0.8.${i + 1}`,
			swapIds: uuids.slice(i * share, (i + 1) * share).map(toSwapId),
			perSecond: size.perSecond / size.callers,
		}),
	);
	await expect
		.poll(() => openFiles(pid), { timeout: 2 * rampMs + 20_000, interval: 100 })
		.toBeGreaterThanOrEqual(before.files + size.held);
	const rampedMs = performance.now() - startedAt;
	const bytesPerCall = (residentBytes(pid) - before.bytes) / size.held;

	const usedBefore = processorMs(pid);
	const measuredFrom = performance.now();
	const [held, endedAtMs] = await Promise.all([
		timeQuotes(quoting, intent, quotes),
		endSome(database, uuids),
	]);
	const processors = (processorMs(pid) - usedBefore) / (performance.now() - measuredFrom);
	// The last callers have yet to receive their answer.
	await sleep(1_000);
	const results = await Promise.all(polling.map(({ end }) => end()));

	const { answers, pendingMs, heardAtMs } = together(results);
	const wokenMs = [...endedAtMs].map(
		([swapId, at]) => (heardAtMs.get(swapId) ?? Number.POSITIVE_INFINITY) - at,
	);
	const early = pendingMs.filter((tookMs) => tookMs < holdMs - 500).length;
	const spread = (values: number[]) =>
		[50, 99, 100].map((percent) => Math.round(percentile(values, percent)));
	console.log(`${size.held} held calls; times in milliseconds, as p50, p99 and largest:`, {
		rampedMs,
		bytesPerCall,
		processors,
		answers,
		early,
		pendingMs: spread(pendingMs),
		woken: wokenMs.length,
		wokenMs: spread(wokenMs),
		quotes: { calm, held },
	});

	expect(Object.keys(answers)).toEqual(["200"]);
	expect(early).toBe(0);
	expect(percentile(pendingMs, 99)).toBeLessThan(holdMs + 5_000);
	expect(wokenMs).toHaveLength(size.woken);
	expect(percentile(wokenMs, 99)).toBeLessThan(500);
	expect(held.p99).toBeLessThan(calm.p99 + 500);
	expect(bytesPerCall).toBeLessThan(80_000);
	// Callers that left leave nothing behind.
	await expect.poll(() => openFiles(pid), { timeout: 10_000 }).toBeLessThanOrEqual(before.files + 20);
});

/** Inserts pending swaps of an account for which the worker has nothing to do. */
async function insertSwaps(
	database: DatabaseConnection,
	{ count, accountId }: { count: number; accountId: string },
): Promise<SwapUuid[]> {
	const { origin, destination } = environmentOf();
	const uuids = Array.from({ length: count }, () =>
		newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) }),
	);
	const order = await makeOrder({
		chains: { origin, destination },
		wallet: assetAddress(origin, "USDC"),
		inputToken: assetAddress(origin, "USDC"),
		outputToken: assetAddress(destination, "USDC"),
	});
	await database.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery, ended_at)
		select id, $2, sha256(id::text::bytea), $3, 7, 700, '{"kind": "inventory", "amount": "7"}', now()
		from unnest($1::uuid[]) id`,
		[uuids, accountId, orderToJson(order)],
	);
	return uuids;
}

/** Ends swaps evenly, each in its own transaction. Returns the time just before each was ended. */
async function endSome(
	database: DatabaseConnection,
	uuids: readonly SwapUuid[],
): Promise<Map<string, number>> {
	const endedAtMs = new Map<string, number>();
	const startedAt = performance.now();
	for (let n = 0; n < size.woken; n++) {
		const dueMs = (n * size.measureMs) / size.woken;
		await sleep(Math.max(0, startedAt + dueMs - performance.now()));
		// The ended swaps are spread over all callers, from the first to the last.
		const uuid = uuids[Math.floor((n * uuids.length) / size.woken)] as SwapUuid;
		endedAtMs.set(toSwapId(uuid), Date.now());
		await database.query(
			"update swaps set status = 'settled', stage = 'delivered', updated_at = now() where id = $1",
			[uuid],
		);
	}
	return endedAtMs;
}

function together(results: readonly PollResult[]) {
	const answers: Record<string, number> = {};
	for (const [answer, count] of results.flatMap((one) => Object.entries(one.answers)))
		answers[answer] = (answers[answer] ?? 0) + count;
	return {
		answers,
		pendingMs: results.flatMap((one) => one.pendingMs),
		heardAtMs: new Map(results.flatMap((one) => Object.entries(one.endedAtMs))),
	};
}
