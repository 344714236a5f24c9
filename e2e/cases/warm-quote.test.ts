import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { baseEnvironment, portSource, serverMain, serviceProcess } from "@geoswap/devnet";
import { createClient, getQuote, type Quote } from "@geoswap/sdk";
import { generateKeyPairSigner } from "@solana/kit";
import { parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { swapIntent } from "../caller/do-swap.ts";
import type { Environment } from "../environment/environment.ts";
import { type QueryCounts, startQueryCounter } from "../measure/query-counter.ts";
import { type RpcCounts, readRpcCounts, startRpcCounter } from "../measure/rpc-counter.ts";
import { sharedEnvironment } from "../shared-environment.ts";

const quotes = 500;
/**
 * Polling interval. It is long enough to make all quotes, unless the machine is busy, and too short for prices to be
 * stale.
 */
const lookEveryMs = 12_000;
/** Time without a call after which a poll has ended, which is far longer than a call takes. */
const quietMs = 1_000;

test("five hundred warm quotes call no chain, and in the database only read the key, the pauses, the followed chains and the inventory once a second, and record the key's use and each minute what was quoted", async () => {
	const environment = sharedEnvironment();
	const { baseUrl, rpcCounts, solanaCounts, queryCounts } = await startQuietApi(environment);
	const { origin, destination, solana } = environment;
	const client = createClient({ baseUrl, apiKey: await environment.newKey() });

	const { answers, elapsedSeconds, queries } = await betweenPolls(async (quote) => {
		const queriesBefore = queryCounts();
		const startedAt = performance.now();
		const answers = await inBatches(quotes, 50, quote);
		const elapsedSeconds = (performance.now() - startedAt) / 1_000;
		return { answers, elapsedSeconds, queries: increase(queriesBefore, queryCounts()) };
	});

	expect(new Set(answers.map(({ swapId }) => swapId)).size).toBe(quotes);
	const { true: uses = [], false: others = [] } = Object.groupBy(Object.keys(queries), (sql) =>
		String(sql.includes("set last_used_at")),
	);
	const keyReads = others.filter((sql) => /^select k\.id, [^;]*\sfrom api_keys k /.test(sql));
	const pauseReads = others.filter((sql) => /^select [^;]*\sfrom pauses /.test(sql));
	const followedReads = others.filter((sql) => /^select chain_id [^;]*\sfrom chain_heads$/.test(sql));
	const inventoryReads = others.filter((sql) => /^select chain_id, token, [^;]*\sfrom inventory /.test(sql));
	// What was quoted is written once a minute, in one transaction.
	const demand = others.filter((sql) =>
		/^(begin|commit|insert into quoted_volume |delete from (demand|quoted_volume) )/.test(sql),
	);
	expect(others.toSorted()).toEqual(
		[...keyReads, ...pauseReads, ...followedReads, ...inventoryReads, ...demand].toSorted(),
	);
	const count = (statements: string[]) => statements.reduce((total, sql) => total + (queries[sql] ?? 0), 0);
	expect(count(keyReads)).toBeLessThanOrEqual(Math.ceil(elapsedSeconds) + 1);
	expect(count(pauseReads)).toBeLessThanOrEqual(Math.ceil(elapsedSeconds) + 1);
	expect(count(followedReads)).toBeLessThanOrEqual(Math.ceil(elapsedSeconds) + 1);
	expect(count(inventoryReads)).toBeLessThanOrEqual(Math.ceil(elapsedSeconds) + 1);
	for (const sql of demand) expect(count([sql])).toBeLessThanOrEqual(Math.ceil(elapsedSeconds / 60));
	expect(count(uses)).toBeLessThanOrEqual(Math.ceil(elapsedSeconds / 10));

	/** Returns a function that quotes three routes in turn, for one new wallet and one new recipient on Solana. */
	async function newQuotes(): Promise<(i: number) => Promise<Quote>> {
		const account = privateKeyToAccount(generatePrivateKey());
		const { address: onSolana } = await generateKeyPairSigner();
		return (i) => {
			const routes = [
				{ from: "USDC", to: { chain: destination, token: "ORB" } },
				{ from: "WETH", to: { chain: destination, token: "USDC" } },
				{ from: "USDC", to: { chain: solana, token: "SOL" }, recipient: onSolana },
			];
			const {
				from = "",
				to = { chain: destination, token: "" },
				recipient,
			} = routes[i % routes.length] ?? {};
			return getQuote(
				client,
				swapIntent({
					from: {
						chain: origin,
						token: from,
						amount: parseUnits("1", from === "USDC" ? 8 : 16) + BigInt(i),
					},
					to,
					account,
					...(recipient && { recipient }),
				}),
			);
		};
	}

	/**
	 * Runs the function in a pause between two of the process's own polls, and expects that no chain was called. On a busy
	 * machine it may take until the next poll, and is then run again after that.
	 */
	async function betweenPolls<T>(run: (quote: (i: number) => Promise<Quote>) => Promise<T>): Promise<T> {
		for (let tries = 1; ; tries++) {
			const polled = await rpcCounts();
			await expect
				.poll(async () => havePolled(await rpcCounts(), polled), { timeout: 2 * lookEveryMs })
				.toBe(true);
			// The first quotes read the wallet's balance for a discount and the recipient's account on Solana. The account is
			// read again after half a minute, so each try has its own.
			const quote = await newQuotes();
			await quote(0);
			await quote(2);
			const before = await settledCounts();
			const result = await run(quote);
			const after = await allCounts();
			const hasPolled = after.some(
				({ eth_getBlockByNumber }, i) => eth_getBlockByNumber !== before[i]?.eth_getBlockByNumber,
			);
			if (hasPolled && tries < 5) continue;
			expect(after).toEqual(before);
			return result;
		}
	}

	/** Returns whether each chain was polled since. A poll reads a block, and then the prices as of that block. */
	function havePolled(counts: readonly RpcCounts[], since: readonly RpcCounts[]): boolean {
		return counts.every(({ eth_getBlockByNumber: blocks = 0, eth_call: calls = 0 }, i) => {
			const { eth_getBlockByNumber: blocksBefore = 0, eth_call: callsBefore = 0 } = since[i] ?? {};
			return blocks > blocksBefore && calls > callsBefore;
		});
	}

	async function allCounts(): Promise<RpcCounts[]> {
		return [...(await rpcCounts()), await solanaCounts()];
	}

	/** Waits until no call was made for a while. A poll waits for each of its calls before it makes the next. */
	async function settledCounts(): Promise<RpcCounts[]> {
		let counts = await allCounts();
		let changedAt = performance.now();
		await expect
			.poll(
				async () => {
					const before = counts;
					counts = await allCounts();
					if (JSON.stringify(counts) !== JSON.stringify(before)) changedAt = performance.now();
					return performance.now() - changedAt;
				},
				{ timeout: lookEveryMs },
			)
			.toBeGreaterThan(quietMs);
		return counts;
	}
});

/**
 * Starts an API process beside the shared one, so that all its calls are caused by these quotes. It has its own
 * counters in front of the chains and the database, and polls the chains rarely enough to leave a pause.
 */
async function startQuietApi({ serverEnvironment, chains, solana }: Environment): Promise<{
	baseUrl: string;
	rpcCounts: () => Promise<RpcCounts[]>;
	solanaCounts: () => Promise<RpcCounts>;
	queryCounts: () => QueryCounts;
}> {
	const [rpcCounters, solanaCounter, queryCounter, port] = await Promise.all([
		Promise.all(chains.map(({ rpcUrl }) => startRpcCounter(rpcUrl))),
		startRpcCounter(solana.rpcUrl),
		startQueryCounter(serverEnvironment.API_DATABASE_URL ?? ""),
		portSource()(),
	]);
	const dir = mkdtempSync(join(tmpdir(), "geoswap-warm-quote-"));
	const sharedFile = serverEnvironment.GEOSWAP_CONFIG ?? "";
	const config = JSON.parse(readFileSync(sharedFile, "utf8"));
	config.deployment = join(dirname(sharedFile), config.deployment);
	config.api = { ...config.api, port, metrics: undefined, rates: { quote: quotes } };
	for (const [i, { chainId }] of chains.entries()) {
		const nodes = [{ url: rpcCounters[i]?.url }];
		Object.assign(config.chains[chainId], { nodes, agreeAboveUsd: undefined, pollMs: lookEveryMs });
	}
	const nodes = [{ url: solanaCounter.url }];
	Object.assign(config.solana, { nodes, agreeAboveUsd: undefined, pollMs: lookEveryMs });
	Object.assign(config.feeDiscount, { cacheSeconds: 3_600 });
	const configFile = join(dir, "config.json");
	writeFileSync(configFile, JSON.stringify(config));
	const baseUrl = `http://127.0.0.1:${port}`;
	const api = serviceProcess({
		name: "quiet api",
		command: process.execPath,
		args: [serverMain, "api", "--config", configFile],
		env: { ...baseEnvironment(), ...serverEnvironment, API_DATABASE_URL: queryCounter.url },
		logFile: join(dir, "api.log"),
		isReady: async () => (await fetch(`${baseUrl}/ready`)).ok,
	});
	onTestFinished(async () => {
		await api.stop();
		await Promise.all([...rpcCounters, solanaCounter, queryCounter].map((counter) => counter.stop()));
		rmSync(dir, { recursive: true });
	});
	await api.start();
	return {
		baseUrl,
		rpcCounts: () => Promise.all(rpcCounters.map(({ url }) => readRpcCounts(url))),
		solanaCounts: () => readRpcCounts(solanaCounter.url),
		queryCounts: queryCounter.counts,
	};
}

async function inBatches<T>(count: number, size: number, run: (i: number) => Promise<T>): Promise<T[]> {
	const results: T[] = [];
	while (results.length < count) {
		const from = results.length;
		results.push(...(await Promise.all(Array.from({ length: size }, (_, i) => run(from + i)))));
	}
	return results;
}

function increase(before: QueryCounts, after: QueryCounts): QueryCounts {
	return Object.fromEntries(
		Object.entries(after)
			.map(([sql, count]): [string, number] => [sql, count - (before[sql] ?? 0)])
			.filter(([, count]) => count > 0),
	);
}
