import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { refuseDevelopmentKeys } from "@geoswap/keys/development/refuse-development-keys";
import { refuseSolanaDevelopmentKeys } from "@geoswap/keys/development/refuse-solana-development-keys";
import { hexOfSignature } from "@geoswap/keys/hex-of-signature";
import { createEventFeed } from "../api/event/create-event-feed.ts";
import { createApp } from "../api/http/create-app.ts";
import { createApiKeys } from "../api/key/api-keys.ts";
import { createHeldCalls } from "../api/key/held-calls.ts";
import { createKeyNetworks } from "../api/key/key-networks.ts";
import { connectRedis } from "../api/key/prompt-redis.ts";
import { createRateLimits } from "../api/key/rate-limits.ts";
import { apiRoutes } from "../api/route/api-routes.ts";
import { newStartup } from "../api/route/get-ready.ts";
import { createRecipientAccounts } from "../api/route/recipient-accounts.ts";
import { swapAnswer } from "../api/status/swap-answer.ts";
import { createSwapListener } from "../api/status/swap-listener.ts";
import { evmChains, solanaChain } from "../config/chain-config.ts";
import { ConfigError } from "../config/config-error.ts";
import { createExplorerPages } from "../config/explorer-pages.ts";
import { finalitySecondsOf } from "../config/finality-seconds.ts";
import { readConfig } from "../config/read-config.ts";
import { readPepper, readSealKeys, readSecret, readWebhookKeys } from "../config/secrets.ts";
import { type DatabasePool, openDatabase } from "../database/database.ts";
import { openDenyList } from "../deny/open-deny-list.ts";
import { createDesk } from "../desk/create-desk.ts";
import { chainFeeDiscounts } from "../desk/discount/fee-discounts.ts";
import { keepPrices } from "../desk/price/keep-prices.ts";
import { connectEngine } from "../durable/connect-engine.ts";
import { pokeAtOnce } from "../durable/poke-targets.ts";
import { keepDemand } from "../money/inventory/keep-demand.ts";
import { keepFreeInventory } from "../money/inventory/keep-free-inventory.ts";
import { expectDatabase } from "../preflight/expect-database.ts";
import { expectOpenSwaps } from "../preflight/expect-open-swaps.ts";
import { openReceiptKey } from "../signer/open-receipt-key.ts";
import { openSigners } from "../signer/open-signers.ts";
import { createPauseList } from "../swap/pause/pause-list.ts";
import { denyMetrics } from "../telemetry/deny-metrics.ts";
import { createLog, type Log } from "../telemetry/log.ts";
import { nodeMetrics, rpcMetrics } from "../telemetry/node-metrics.ts";
import { requestMetrics } from "../telemetry/request-metrics.ts";
import { signerMetrics } from "../telemetry/signer-metrics.ts";
import { startTelemetry } from "../telemetry/start-telemetry.ts";
import { countRefusals } from "../watch/count-refusals.ts";
import { watchClock } from "../watch/watch-clock.ts";
import { watchConfig } from "../watch/watch-config.ts";
import { watchKeys } from "../watch/watch-keys.ts";
import { watchPauses } from "../watch/watch-pauses.ts";
import { watchPrices } from "../watch/watch-prices.ts";
import { watchRedis } from "../watch/watch-redis.ts";
import { connectApiChains } from "./connect-api-chains.ts";
import { logSimulationMethods } from "./log-simulation-methods.ts";
import { runUntilStopped } from "./run-until-stopped.ts";

/**
 * Connections that may wait to be accepted. Beyond that, callers' systems back off. After a stall of 40 s, 5,000
 * callers were all served half a minute sooner than with the default of 511. The operating system has a separate
 * limit.
 */
const backlog = 16_384;

/** How long a request for a public page waits for a connection. The page then retries by itself. */
const sharePageWaitMs = 2_000;

/** The interval at which a database that did not answer at the start is checked again. */
const recheckMs = 1_000;

/** Runs the process that answers callers. The only key that it may hold signs receipts, and cannot move funds. */
export async function runApi(configPath: string): Promise<void> {
	const config = readConfig(configPath);
	const onSolana = solanaChain(config);
	if (onSolana) refuseSolanaDevelopmentKeys(onSolana.deployment);
	const nowMs = Date.now;
	const loadedAtMs = nowMs();
	const databaseUrl = readSecret("API_DATABASE_URL");
	const sealKeys = readSealKeys({ openMs: config.api.retiredSealKeyDays * 86_400_000, nowMs });
	const pepper = readPepper();
	const redisUrl = readSecret("REDIS_URL");
	const log = createLog({ level: config.logLevel, process: "api" });
	const telemetry = await startTelemetry({
		config: config.telemetry,
		metrics: config.api.metrics,
		service: "geoswapd api",
		nowMs,
		log,
	});
	const { tracer, meter } = telemetry;
	// On a stop signal the process first continues to serve, then `stopping` ends its loops. Requests in flight may
	// need prices, so the loops that read the chains end after the last answer.
	const told = new AbortController();
	const stopping = new AbortController();
	const answered = new AbortController();
	const { chains, solana } = await connectApiChains(config, {
		onCall: meter && rpcMetrics(meter),
		nodeMetrics: meter && nodeMetrics(meter),
		signal: answered.signal,
		log,
	});

	const { unauthenticatedPerSecond, sharePages } = config.api;
	const onRefusal = meter && countRefusals(meter);
	const pool = openDatabase({ url: databaseUrl, applicationName: "geoswapd api", max: 20, onRefusal });
	const sharePool = openDatabase({
		url: databaseUrl,
		applicationName: "geoswapd api, share pages",
		max: sharePages.connections,
		waitMs: sharePageWaitMs,
		onRefusal,
	});
	const checkDatabase = async () => {
		await expectDatabase(pool, "api", config.database.roles);
		await expectOpenSwaps(pool, config, { role: "api" });
	};
	const isChecked = await checkDatabase().then(
		() => true,
		(error: unknown) => {
			if (error instanceof ConfigError) throw error;
			log.warn({ err: error }, "the database does not answer; it is checked as soon as it does");
			return false;
		},
	);
	const listener = createSwapListener({
		url: databaseUrl,
		db: pool,
		onError: (error) => log.warn({ err: error }, "the swap listener lost its connection; reconnecting"),
	});
	const finalitySeconds = finalitySecondsOf(config);
	const answerParts = { finalitySeconds, explorers: createExplorerPages(config) };
	const feedOf = (db: DatabasePool) =>
		createEventFeed({
			db,
			statusOf: (swap) => swapAnswer(swap, answerParts),
			onError: (error) => log.warn({ err: error }, "the database did not answer when events were read"),
		});
	const feed = feedOf(pool);
	const shares = { db: sharePool, feed: feedOf(sharePool) };
	const pauses = await createPauseList({
		db: pool,
		onError: (error) => log.warn({ err: error }, "the database did not answer when pauses were read"),
	});
	const inventory = await keepFreeInventory({
		db: pool,
		nowMs,
		onError: (error) => log.warn({ err: error }, "the database did not answer when the inventory was read"),
	});
	const demand = keepDemand({
		pool,
		nowMs,
		onError: (error) => log.warn({ err: error }, "the demand for inventory could not be written"),
	});
	const answering = connectRedis({
		url: redisUrl,
		onError: (error) => log.debug({ err: error }, "redis"),
	});
	const redis = meter ? watchRedis(answering, { meter }) : answering;

	const apiKeys = createApiKeys({
		db: pool,
		pepper,
		limits: {
			rates: config.api.rates,
			heldStatusCalls: config.api.heldStatusCalls,
			maxUsdPerDay: config.limits.maxUsdPerDay,
		},
		nowMs,
		onError: (error) => log.warn({ err: error }, "the database did not answer when API keys were read"),
	});

	const rateLimits = createRateLimits({
		redis,
		unauthenticatedPerSecond,
		sharePagesPerSecond: sharePages.perSecond,
	});
	const receiptSigners = openSigners({
		settings: config.api.receipts,
		nowMs,
		onCall: meter && signerMetrics(meter),
	});
	const receiptKey = await openReceiptKey({
		keys: config.api.receipts,
		signers: receiptSigners,
		deployment: config.deployment,
	});
	if (receiptKey)
		refuseDevelopmentKeys(
			[receiptKey.address],
			evmChains(config).map(({ chainId }) => chainId),
		);
	const evm = [...chains.values()];
	const { priceCache, want, kept } = keepPrices({ config, chains: evm, nowMs, signal: answered.signal, log });
	logSimulationMethods(evm, log);
	const desk = createDesk({ config, priceCache, pauses, inventory, demand, nowMs, random: randomBytes });
	const denyList = await openDenyList({
		settings: config.denyList,
		metrics: meter && denyMetrics(meter),
		nowMs,
		log,
	});
	const routes = apiRoutes({
		config,
		chains,
		solana,
		pool,
		listener,
		finalitySeconds,
		priceCache,
		wantPrices: want,
		desk,
		pauses,
		demand,
		feeDiscounts: chainFeeDiscounts({ config, chains, nowMs, log }),
		recipients: createRecipientAccounts({ solana, chains, nowMs, log }),
		denyList,
		engine: pokeAtOnce(connectEngine(config.restate), log),
		sealKeys,
		webhookKeys: readWebhookKeys({ nowMs }),
		receiptSigner: receiptKey && {
			address: receiptKey.address,
			sign: async (message) => hexOfSignature(await receiptKey.sign({ kind: "receipt", message })),
		},
		nowMs,
		redis,
		heldCalls: createHeldCalls({ redis }),
		heldStreams: createHeldCalls({ redis, prefix: "geoswap:streams" }),
		feed,
		shares,
		rateLimits,
		startup: newStartup(),
		stopping: told.signal,
	});
	const networks = createKeyNetworks({
		nowMs,
		onMany: (found) => log.warn(found, "an API key is used from many networks"),
	});
	if (meter) {
		watchKeys({ meter, networks, sealKeys, nowMs });
		watchClock({ meter, db: pool, nowMs });
		watchPrices({ meter, config, priceCache, desk, nowMs });
		watchPauses({ meter, config, read: pauses.open });
		watchConfig({ meter, loadedAtMs });
	}
	const app = createApp({
		routes,
		apiKeys,
		rateLimits,
		log,
		corsOrigins: config.api.corsOrigins,
		trustedProxies: config.api.trustedProxies,
		stopping: told.signal,
		tracer,
		metrics: meter && requestMetrics(meter),
		onKeyUsed: networks.used,
		nowMs,
	});
	await app.listen({ host: config.api.host, port: config.api.port, backlog });
	log.info({ port: (app.server.address() as AddressInfo).port }, "listening");
	const checked = isChecked ? undefined : keepChecking(checkDatabase, { signal: stopping.signal, log });
	await runUntilStopped({
		stopping,
		drain: async () => {
			told.abort();
			await sleep(config.api.drainSeconds * 1_000);
		},
		close: [
			() => app.close(),
			() => answered.abort(),
			() => Promise.all([kept, checked]),
			() => listener.close(),
			() => feed.close(),
			() => shares.feed.close(),
			() => apiKeys.close(),
			() => pauses.close(),
			() => denyList?.close(),
			() => inventory.close(),
			() => demand.close(),
			() => redis.close(),
			() => receiptSigners.close(),
			() => pool.end(),
			() => sharePool.end(),
			() => telemetry.stop(),
		],
		log,
	});
}

/** Checks again until the database answers. Ends the process if the database is not the one that it needs. */
async function keepChecking(
	check: () => Promise<void>,
	{ signal, log }: { signal: AbortSignal; log: Log },
): Promise<void> {
	while (!signal.aborted) {
		await sleep(recheckMs, undefined, { signal }).catch(() => {});
		try {
			return await check();
		} catch (error) {
			if (!(error instanceof ConfigError)) continue;
			log.error({ err: error }, "the database is not usable by this process; stopping");
			process.exitCode = 2;
			process.kill(process.pid, "SIGTERM");
			return;
		}
	}
}
