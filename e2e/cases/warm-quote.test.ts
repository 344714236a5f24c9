import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { baseEnvironment, portSource, serverMain, serviceProcess } from "@geoswap/devnet";
import { createClient, getQuote } from "@geoswap/sdk";
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
 * Polling interval: long enough to make all quotes, unless the machine is busy, and too short for prices to be stale.
 */
const lookEveryMs = 12_000;

test("five hundred warm quotes call no chain, and in the database only read the key and the pauses once a second and record the key's use", async () => {
	const environment = sharedEnvironment();
	const { baseUrl, rpcCounts, solanaCounts, queryCounts } = await startQuietApi(environment);
	const { origin, destination, solana } = environment;
	const client = createClient({ baseUrl, apiKey: await environment.newKey() });
	const account = privateKeyToAccount(generatePrivateKey());
	const { address: onSolana } = await generateKeyPairSigner();
	const looks = async () => (await rpcCounts()).map((counts) => counts.eth_getBlockByNumber ?? 0);
	const quote = (i: number) => {
		const routes = [
			{ from: "USDC", to: { chain: destination, token: "ORB" } },
			{ from: "WETH", to: { chain: destination, token: "USDC" } },
			{ from: "USDC", to: { chain: solana, token: "SOL" }, recipient: onSolana },
		];
		const { from = "", to = { chain: destination, token: "" }, recipient } = routes[i % routes.length] ?? {};
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
	await quote(0);

	// The process polls its chains on its own, now and then. Right after it has polled all there is a pause.
	const looksAtFirst = Math.max(...(await looks()));
	await expect
		.poll(looks, { timeout: 2 * lookEveryMs, interval: 100 })
		.toEqual(environment.chains.map(() => looksAtFirst + 1));
	// Each poll is a block and then its prices, in one call; the first took two, since sizes need the feeds. Reading the
	// wallet's balance for a discount was one more, on the first chain.
	const unpriced = async () =>
		(await rpcCounts()).map((counts, i) => {
			const others = i === 0 ? 2 : 1;
			return (counts.eth_getBlockByNumber ?? 0) + others - (counts.eth_call ?? 0);
		});
	await expect
		.poll(unpriced, { timeout: lookEveryMs / 2, interval: 100 })
		.toEqual(environment.chains.map(() => 0));
	// The first quote for a recipient on Solana looks up its account.
	await quote(2);
	const rpcBefore = await rpcCounts();
	const solanaBefore = await solanaCounts();

	const queriesBefore = queryCounts();
	const startedAt = performance.now();
	const answers = await inBatches(quotes, 50, quote);
	const elapsedSeconds = (performance.now() - startedAt) / 1_000;
	const queries = increase(queriesBefore, queryCounts());

	expect(new Set(answers.map(({ swapId }) => swapId)).size).toBe(quotes);
	// On a busy machine the quotes take until the next poll, which reads a block and prices, whatever is quoted.
	await expect.poll(unpriced, { timeout: lookEveryMs / 2, interval: 100 }).toEqual([0, 0]);
	for (const [i, { eth_getBlockByNumber: blocks = 0, ...counts }] of (await rpcCounts()).entries()) {
		const { eth_getBlockByNumber: blocksBefore = 0, ...before } = rpcBefore[i] ?? {};
		const looked = blocks - blocksBefore;
		expect(looked).toBeLessThanOrEqual(Math.ceil((performance.now() - startedAt) / lookEveryMs));
		expect(counts).toEqual({ ...before, eth_call: (before.eth_call ?? 0) + looked });
	}
	expect(await solanaCounts()).toEqual(solanaBefore);
	const { true: uses = [], false: others = [] } = Object.groupBy(Object.keys(queries), (sql) =>
		String(sql.includes("set last_used_at")),
	);
	const keyReads = others.filter((sql) => /^select k\.id, [^;]*\sfrom api_keys k /.test(sql));
	const pauseReads = others.filter((sql) => /^select [^;]*\sfrom pauses /.test(sql));
	expect(others.toSorted()).toEqual([...keyReads, ...pauseReads].toSorted());
	const count = (statements: string[]) => statements.reduce((total, sql) => total + (queries[sql] ?? 0), 0);
	expect(count(keyReads)).toBeLessThanOrEqual(Math.ceil(elapsedSeconds) + 1);
	expect(count(pauseReads)).toBeLessThanOrEqual(Math.ceil(elapsedSeconds) + 1);
	expect(count(uses)).toBeLessThanOrEqual(Math.ceil(elapsedSeconds / 10));
});

/**
 * Starts an API process beside the shared one, so that all its calls are caused by these quotes: it has its own
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
		Object.assign(config.chains[chainId], { rpcUrl: rpcCounters[i]?.url, pollMs: lookEveryMs });
	}
	Object.assign(config.solana, { rpcUrl: solanaCounter.url, pollMs: lookEveryMs });
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
