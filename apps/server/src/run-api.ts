import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { createApiKeys } from "./api-key/api-keys.ts";
import { createRateLimits } from "./api-key/rate-limits.ts";
import { connectChain } from "./chain/evm/chain-client.ts";
import { connectSolana } from "./chain/solana/connect-solana.ts";
import { refuseSolanaDevelopmentKeys } from "./chain/solana/refuse-solana-development-keys.ts";
import { type Config, readConfig } from "./config.ts";
import { connectEngine } from "./durable/connect-engine.ts";
import { expectChainIds } from "./expect-chain-ids.ts";
import { expectGenesisHash } from "./expect-genesis-hash.ts";
import { createApp } from "./http/create-app.ts";
import { createLog } from "./log.ts";
import { keepPrices } from "./price/keep-prices.ts";
import { getDelegation } from "./routes/get-delegation.ts";
import { getHealth } from "./routes/get-health.ts";
import { getReady } from "./routes/get-ready.ts";
import { getStatus } from "./routes/get-status.ts";
import { postBuildGeoOp } from "./routes/post-build-geo-op.ts";
import { postBuildSolanaTx } from "./routes/post-build-solana-tx.ts";
import { postQuote } from "./routes/post-quote.ts";
import { postSubmit } from "./routes/post-submit.ts";
import { postSubmitSolana } from "./routes/post-submit-solana.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { readPepper, readSealKeys, readSecret } from "./secrets.ts";
import { openDatabase } from "./store/database.ts";
import { createSwapListener } from "./store/swap-listener.ts";
import { createDesk } from "./venue/desk.ts";

/** The process that answers callers. It holds no key that can move anything. */
export async function runApi(configPath: string): Promise<void> {
	const config = readConfig(configPath);
	if (config.solana) refuseSolanaDevelopmentKeys(config.solana.deployment);
	const databaseUrl = readSecret("DATABASE_URL");
	const sealKeys = readSealKeys();
	const pepper = readPepper();
	const redisUrl = readSecret("REDIS_URL");
	const chains = new Map(config.chains.map((chain) => [chain.chainId, connectChain(chain)]));
	const solana = config.solana && connectSolana(config.solana);
	await Promise.all([expectChainIds([...chains.values()]), solana && expectGenesisHash(solana)]);
	const log = createLog({ level: config.logLevel, process: "api" });
	const nowMs = Date.now;
	const stopping = new AbortController();

	const pool = openDatabase({ url: databaseUrl, applicationName: "geoswapd api", max: 20 });
	const listener = createSwapListener({
		url: databaseUrl,
		db: pool,
		onError: (error) => log.warn({ err: error }, "the listener lost its connection"),
	});
	const prices = { config, chains: [...chains.values()], nowMs, signal: stopping.signal, log };
	const { book, kept } = keepPrices(prices);
	const desk = createDesk({ config, book, nowMs, random: randomBytes });
	const engine = connectEngine(config.restate);
	const rateLimits = createRateLimits({
		redisUrl,
		unauthenticatedPerSecond: config.api.unauthenticatedPerSecond,
		onRedisError: (error) => log.debug({ err: error }, "redis"),
	});

	const followed = [...config.chains, ...(config.solana ? [config.solana] : [])];
	const submitDeps = { solana, pool, sealKeys, desk, engine, config, nowMs };
	const app = createApp({
		routes: [
			postQuote({ desk, sealKeys }),
			getDelegation({ chains, solana }),
			postBuildGeoOp({ chains, db: pool, sealKeys, nowMs }),
			postBuildSolanaTx({ solana, config, db: pool, sealKeys, nowMs }),
			postSubmit({ chains, ...submitDeps }),
			postSubmitSolana(submitDeps),
			getStatus({
				db: pool,
				listener,
				finalitySeconds: finalitySecondsOf(config),
			}),
			getHealth(),
			getReady({
				checks: [
					{
						name: "stock, which the worker writes",
						check: async () => {
							const { rows } = await pool.query("select distinct chain_id from stock");
							if (rows.length < followed.length) throw new Error("a chain is not followed yet");
						},
					},
					...followed.map(({ chainId }) => ({
						name: `prices of chain ${chainId}`,
						check: async () => {
							if (!book.isReady(chainId, { nowMs: nowMs() })) throw new Error("there are no fresh prices");
						},
					})),
				],
			}),
		],
		apiKeys: createApiKeys({
			db: pool,
			pepper,
			limits: { rates: config.api.rates, heldStatusCalls: config.api.heldStatusCalls },
		}),
		rateLimits,
		log,
		corsOrigins: config.api.corsOrigins,
	});
	await app.listen({ host: config.api.host, port: config.api.port });
	log.info({ port: (app.server.address() as AddressInfo).port }, "listening");
	await runUntilStopped({
		stopping,
		close: [
			() => app.close(),
			() => kept,
			() => listener.close(),
			() => rateLimits.close(),
			() => pool.end(),
		],
		log,
	});
}

/** On Solana a transaction that does not land must die before another is sent. */
function finalitySecondsOf({ chains, solana }: Config): Map<number, number> {
	return new Map([
		...chains.map(({ chainId, finalitySeconds }) => [chainId, finalitySeconds] as const),
		...(solana ? [[solana.chainId, solana.finalitySeconds + solana.blockhashSeconds.most] as const] : []),
	]);
}
