import { type Hash, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { countStatuses, type PlannedSwap } from "../caller/mixed-swaps.ts";
import { swapThrough } from "../caller/swap-through.ts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { watchFollowing } from "../measure/follow-delays.ts";
import { percentile } from "../measure/percentile.ts";
import { ownEnvironment } from "../own-environment.ts";
import { type FaultyProvider, startFaultyProvider } from "../trouble/faulty-provider.ts";
import { seededRandom } from "../trouble/seeded-random.ts";
import { troubleProviders } from "../trouble/trouble-providers.ts";

const swapCount = 500;
const quietCount = 60;
const streamCount = 20;
const seed = Number(process.env.GEOSWAP_SEED);
const providersPerChain = 4;
const agreeAboveUsd = 50;
const pollMs = 250;
/** Time until the last deadline of a swap that no process could work on has passed, and its outcome is final. */
const decidedWithinMs = 240_000;

const providers: FaultyProvider[][] = [];
beforeAll(async () => {
	for (const _ of ["origin", "destination"]) {
		providers.push(await Promise.all(Array.from({ length: providersPerChain }, startFaultyProvider)));
	}
});
afterAll(() => Promise.all(providers.flat().map((provider) => provider.stop())));

const environmentOf = ownEnvironment({
	configure: ({ chains, ...config }) => ({
		...config,
		chains: Object.fromEntries(
			Object.entries(chains).map(([chainId, chain], i) => {
				const [{ url: target }] = chain.nodes as [{ url: string }];
				const nodes = (providers[i] ?? []).map(({ url, setTarget }) => {
					setTarget(target);
					return { url, webSocketUrl: url.replace("http", "ws") };
				});
				return [chainId, { ...chain, nodes, agreeAboveUsd, pollMs }];
			}),
		),
	}),
});

test("with one to three of four providers faulty at any time, no swap is lost, small ones are not late, and none above the limit is delivered without two hosts", async () => {
	const environment = environmentOf();
	const { origin, destination } = environment;
	const chains = [origin, destination];
	const database = await connectDatabase(environment.databaseUrl);
	const watches = chains.map((chain) => watchFollowing(chain, database));
	onTestFinished(async () => {
		await Promise.all(watches.map((watch) => watch.stop()));
		await database.end();
	});
	const isLarge = (n: number) => n % 3 === 2;

	const quiet = await swapAll(environment, { count: quietCount, isLarge });
	const quietMs = quiet.filter(isSmall).map(({ tookMs }) => tookMs);
	const quietUntil = Date.now();
	const random = seededRandom(seed);
	const troubles = providers.map((ofChain) => troubleProviders(ofChain, random));
	onTestFinished(async () => {
		await Promise.all(troubles.map((trouble) => trouble.stop()));
	});
	const troubled = await swapAll(environment, { count: swapCount, isLarge });
	await Promise.all(troubles.map((trouble) => trouble.stop()));
	const swaps = [...quiet, ...troubled];
	const troubledMs = troubled.filter(isSmall).map(({ tookMs }) => tookMs);
	const largeMs = troubled.filter((swap) => !isSmall(swap)).map(({ tookMs }) => tookMs);
	await Promise.all(watches.map((watch) => watch.stop()));

	const failovers = await Promise.all(
		chains.map(async ({ chainId }, i) => {
			const blocks = await blocksWithEvents(database, chainId);
			const followed = (watches[i]?.blocks ?? []).filter(({ number }) => blocks.has(number));
			const failures = troubles[i]?.failures ?? [];
			const isAfterFailure = (madeAt: number) => failures.some((at) => madeAt >= at && madeAt < at + 1_500);
			const delays = (of: typeof followed) => of.map(({ delayMs }) => delayMs);
			return {
				quiet: delays(followed.filter(({ madeAt }) => madeAt < quietUntil)),
				after: delays(followed.filter(({ madeAt }) => isAfterFailure(madeAt))),
			};
		}),
	);
	const [quietDelays, delaysAfter] = [
		failovers.flatMap(({ quiet }) => quiet),
		failovers.flatMap(({ after }) => after),
	];
	console.log(`seed ${seed}: ${swaps.length} swaps, ${quietCount} of them quiet`, countStatuses(swaps));
	console.table({
		"small, quiet": spread(quietMs),
		"small, troubled": spread(troubledMs),
		"large, quiet": spread(quiet.filter((swap) => !isSmall(swap)).map(({ tookMs }) => tookMs)),
		"large, troubled": spread(largeMs),
		"block taken in, quiet": spread(quietDelays),
		"block taken in after a provider failed": spread(delaysAfter),
	});
	console.log(
		"faulty answers",
		sumCounts(providers.flat()),
		"time by healthy providers",
		troubles.map(({ healthyMs }) => healthyMs),
	);

	expect(swaps).toHaveLength(quietCount + swapCount);
	expect(swaps.filter((swap) => isSmall(swap) && swap.swap.status !== "settled")).toEqual([]);
	expect(swaps.filter(({ swap }) => swap.status === "failed")).toEqual([]);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectTwoAgreed(database, swaps);
	await expectExact(environment, swaps);
	expect(Math.max(...troubledMs)).toBeLessThanOrEqual(2 * percentile(quietMs, 95));
	expect(percentile(delaysAfter, 95)).toBeLessThanOrEqual(percentile(quietDelays, 95) + 2 * pollMs);
});

type Done = Awaited<ReturnType<typeof swapThrough<PlannedSwap>>> & { tookMs: number };

function isSmall({ from }: PlannedSwap): boolean {
	return from.amount <= parseUnits(String(agreeAboveUsd), 6);
}

/** Makes swaps in both directions, several at a time. The time of each is from the quote to its end. */
async function swapAll(
	environment: Environment,
	{ count, isLarge }: { count: number; isLarge: (n: number) => boolean },
): Promise<Done[]> {
	const { origin, destination, deployment: pins } = environment;
	const client = await environment.newClient();
	let next = 0;
	const streams = Array.from({ length: streamCount }, async () => {
		const done: Done[] = [];
		for (let n = next++; n < count; n = next++) {
			const [from, to] = n % 2 === 0 ? [origin, destination] : [destination, origin];
			const amount = parseUnits(isLarge(n) ? "100" : "20", 6);
			const plan: PlannedSwap = {
				from: { chain: from, token: "USDC", amount },
				to: { chain: to, token: "USDC" },
				recipient: privateKeyToAddress(generatePrivateKey()),
			};
			const account = await environment.newWallet(plan.from);
			const startedAt = performance.now();
			const ended = await swapThrough({ client, pins, account }, plan);
			done.push({ ...ended, tookMs: performance.now() - startedAt });
		}
		return done;
	});
	return (await Promise.all(streams)).flat();
}

async function blocksWithEvents(database: DatabaseConnection, chainId: number): Promise<Set<number>> {
	const rows = await database.query<{ number: string }>(
		"select distinct block_number as number from chain_events where chain_id = $1",
		[chainId],
	);
	return new Set(rows.map(({ number }) => Number(number)));
}

/** Expects that two providers had truthfully returned each large deposit before its output was signed. */
async function expectTwoAgreed(database: DatabaseConnection, swaps: readonly Done[]): Promise<void> {
	const rows = await database.query<{ orderId: string; seenAt: Date; isBefore: boolean }>(
		`select '0x' || encode(order_id, 'hex') as "orderId", seen_at as "seenAt", seen_at < (select min(created_at) from lane_transactions t, jsonb_array_elements(t.jobs) j
				where t.kind = 'fill' and j->>'orderId' = '0x' || encode(s.order_id, 'hex')) as "isBefore" from cross_checks s`,
	);
	const delivered = swaps.filter((swap) => !isSmall(swap) && swap.swap.status === "settled");
	const unseen = delivered.filter(({ swap }) => {
		const seen = rows.find(({ orderId, isBefore }) => orderId === swap.orderId && isBefore);
		if (!seen) return true;
		const hosts = providers.flat().filter(({ toldAt }) => {
			const atMs = toldAt.get(swap.originTxHash as Hash);
			return atMs !== undefined && atMs <= seen.seenAt.getTime();
		});
		return hosts.length < 2;
	});
	expect(unseen.map(({ swap }) => swap.swapId)).toEqual([]);
}

function spread(times: readonly number[]) {
	const of = (percent: number) => Math.round(percentile(times, percent));
	return { count: times.length, p50: of(50), p95: of(95), most: of(100) };
}

function sumCounts(all: readonly FaultyProvider[]): Record<string, number> {
	const sums: Record<string, number> = {};
	for (const { counts } of all) {
		for (const [fault, count] of Object.entries(counts)) sums[fault] = (sums[fault] ?? 0) + count;
	}
	return sums;
}
