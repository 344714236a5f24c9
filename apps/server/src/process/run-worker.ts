import { randomBytes, randomUUID } from "node:crypto";
import { warnOfPlainKeys } from "@geoswap/keys/warn-of-plain-keys";
import type { Milliseconds } from "@geoswap/protocol";
import { swapAnswer } from "../api/status/swap-answer.ts";
import type { EvmChain } from "../chain/evm/connect-chain.ts";
import { readTreasury, type TreasuryReading } from "../chain/evm/read/read-treasury.ts";
import { atWorkerUrl } from "../config/at-worker-url.ts";
import type { Config } from "../config/config.ts";
import { configuredAssets } from "../config/configured-assets.ts";
import { createExplorerPages } from "../config/explorer-pages.ts";
import { finalitySecondsOf } from "../config/finality-seconds.ts";
import { isDevnet } from "../config/is-devnet.ts";
import { readConfig } from "../config/read-config.ts";
import type { SealKeys } from "../config/seal-keys.ts";
import { readSecret, readWebhookKeys } from "../config/secrets.ts";
import { type DatabasePool, openDatabase } from "../database/database.ts";
import { ensurePartitions } from "../database/migrate.ts";
import { openDenyList } from "../deny/open-deny-list.ts";
import { createDesk } from "../desk/create-desk.ts";
import type { Desk } from "../desk/desk.ts";
import { deskChains } from "../desk/desk-chain.ts";
import { keepPrices } from "../desk/price/keep-prices.ts";
import type { PriceCache } from "../desk/price/price-cache.ts";
import { refundWorth } from "../desk/refund-worth.ts";
import { connectEngine } from "../durable/connect-engine.ts";
import { connectEngineAdmin } from "../durable/engine-admin.ts";
import { joinEngine } from "../durable/join-engine.ts";
import { serveDurable } from "../durable/serve-durable.ts";
import type { PricedAsset } from "../money/profit/price-marks.ts";
import { expectDatabase } from "../preflight/expect-database.ts";
import { expectOpenSwaps } from "../preflight/expect-open-swaps.ts";
import { connectAttester } from "../round/attestation/attester-client.ts";
import { openSigners } from "../signer/open-signers.ts";
import { readPauses } from "../swap/pause/pauses.ts";
import { denyMetrics } from "../telemetry/deny-metrics.ts";
import { createLog, type Log } from "../telemetry/log.ts";
import type { Meter } from "../telemetry/meter.ts";
import { nodeMetrics, rpcMetrics } from "../telemetry/node-metrics.ts";
import { signerMetrics } from "../telemetry/signer-metrics.ts";
import { startTelemetry } from "../telemetry/start-telemetry.ts";
import { type PayoutToken, swapMetrics } from "../telemetry/swap-metrics.ts";
import { followerMetrics, laneMetrics, tickMetrics, webhookMetrics } from "../telemetry/worker-metrics.ts";
import { countRefusals } from "../watch/count-refusals.ts";
import { watchClock } from "../watch/watch-clock.ts";
import { watchDatabase } from "../watch/watch-database.ts";
import { watchPauses } from "../watch/watch-pauses.ts";
import { watchPrices } from "../watch/watch-prices.ts";
import { watchRelayers } from "../watch/watch-relayers.ts";
import { watchSigningKeys } from "../watch/watch-signing-keys.ts";
import { createDeliverer, type Deliverer } from "../webhook/create-deliverer.ts";
import { createSender, type WebhookSender } from "../webhook/create-sender.ts";
import { connectWorkerChains, type WorkerChain } from "./connect-worker-chains.ts";
import { createHandlers } from "./create-handlers.ts";
import { logSimulationMethods } from "./log-simulation-methods.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { runWorkerLoops } from "./run-worker-loops.ts";

const retryMaxMs = 5_000;
/** Milliseconds that running handlers may take to end when the worker stops. */
const finishWithinMs = 10_000;
/** Database connections for a worker's concurrent work. */
const workConnections = 30;
/** A pool apart from that of swaps, so that queries for metrics wait in a separate queue, and not long. */
const watchingDatabase = { applicationName: "geoswapd worker metrics", max: 1, statementTimeoutMs: 2_000 };
const attesterTimeoutMs = 3_000;

/** Runs the process that works on swaps, with rounds, lanes, attestations, and a follower for each chain. */
export async function runWorker(configPath: string, { url }: { url?: string } = {}): Promise<void> {
	const file = readConfig(configPath);
	const config = url ? atWorkerUrl(file, url) : file;
	const databaseUrl = readSecret("WORKER_DATABASE_URL");
	const log = createLog({ level: config.logLevel, process: "worker" });
	const nowMs = Date.now;
	const measured = { config: config.telemetry, metrics: config.worker.metrics };
	const telemetry = await startTelemetry({ ...measured, service: "geoswapd worker", nowMs, log });
	const { tracer, meter } = telemetry;
	const metrics = meter && workerMetrics(meter, config);
	const stopping = new AbortController();
	const { signal } = stopping;
	const onCall = meter && signerMetrics(meter);
	const signers = openSigners({ settings: config.keys, nowMs, onCall });
	const { chains, evm } = await connectWorkerChains(config, {
		signers,
		onCall: meter && rpcMetrics(meter),
		nodeMetrics: meter && nodeMetrics(meter),
		signal,
		log,
	});
	warnOfPlainKeys(signers, { signal, log });

	// Each follower of a chain keeps a connection for as long as it follows, and so do the loops that publish events and
	// plan moves.
	const max = workConnections + chains.length + 2;
	const onRefusal = meter && countRefusals(meter);
	const pool = openDatabase({ url: databaseUrl, applicationName: "geoswapd worker", max, onRefusal });
	const watching = meter && openDatabase({ url: databaseUrl, ...watchingDatabase });
	const { priceCache, want, kept } = keepPrices({ config, chains: evm, nowMs, signal, log });
	const desk = createDesk({ config, priceCache, nowMs, random: randomBytes });
	if (meter && watching) watchWorker({ meter, config, chains, priceCache, desk, db: watching, nowMs });
	await expectDatabase(pool, "worker", config.database.roles);
	await expectOpenSwaps(pool, config, { role: "worker" });
	await ensurePartitions(pool, { nowMs: nowMs() });

	const denyList = await openDenyList({
		settings: config.denyList,
		metrics: meter && denyMetrics(meter),
		nowMs,
		log,
	});
	const attesters = config.attesters.map(({ url }) => connectAttester({ url, timeoutMs: attesterTimeoutMs }));
	const pricedChains = deskChains(config);
	const worker = createHandlers({
		config,
		chains,
		pool,
		engine: connectEngine(config.restate),
		desk,
		attesters,
		denyList,
		worthOf: (order) => refundWorth(order, { chains: pricedChains, priceCache, nowMs: nowMs() }),
		tracer,
		metrics,
		nowMs,
		newId: randomUUID,
		log,
	});
	logSimulationMethods(evm, log);
	const webhooks = serveWebhooks({ config, pool, keys: readWebhookKeys({ nowMs }), meter, nowMs, log });
	const { handlers } = worker;
	const { host, port, publicUrl } = config.worker;
	const { identityKeys } = config.restate;
	const server = await serveDurable({
		handlers: handlers.handlers,
		host,
		port,
		identityKeys,
		retryMaxMs,
		log,
	});
	log.info({ url: server.url }, "listening");
	const admin = connectEngineAdmin(config.restate);
	const { joined, stay, leave } = joinEngine({ admin, url: publicUrl ?? server.url, signal, log });
	const loops = runWorkerLoops({
		config,
		chains,
		pool,
		worker,
		wantPrices: want,
		priceCache,
		readTreasury: (chainId) => readTreasuryOf(chainId, { chains, evm }),
		chainOf: (chainId) => evm.find((chain) => chain.chainId === chainId),
		referencePrices: () => referencePrices(config, { priceCache, nowMs: nowMs() }),
		attesters,
		webhooks: webhooks?.deliverer,
		stay,
		followers: metrics?.followers,
		nowMs,
		signal,
		log,
	});

	await runUntilStopped({
		stopping,
		close: [
			() => Promise.all([handlers.finish(finishWithinMs), kept, joined, ...loops]),
			leave,
			() => webhooks?.sender.close(),
			() => server.close(),
			() => denyList?.close(),
			() => Promise.all([pool.end(), watching?.end()]),
			() => signers.close(),
			() => telemetry.stop(),
		],
		log,
	});
}

/** Creates what serves webhooks. Returns undefined if there are no keys for their secrets. */
function serveWebhooks({
	config,
	pool,
	keys,
	meter,
	nowMs,
	log,
}: {
	config: Config;
	pool: DatabasePool;
	keys: SealKeys | undefined;
	meter: Meter | undefined;
	nowMs: () => Milliseconds;
	log: Log;
}): { deliverer: Deliverer; sender: WebhookSender } | undefined {
	// The series exist on every worker, even without webhooks.
	const onOutcome = meter && webhookMetrics(meter);
	if (!keys) return undefined;
	const answerParts = {
		finalitySeconds: finalitySecondsOf(config),
		explorers: createExplorerPages(config),
	};
	const sender = createSender({ isDevnet: isDevnet(config) });
	const deliverer = createDeliverer({
		db: pool,
		sender,
		keys,
		statusOf: (swap) => swapAnswer(swap, answerParts),
		pauseSeconds: config.events.webhookPauseSeconds,
		...(onOutcome && { onOutcome }),
		random: Math.random,
		nowMs,
		log,
	});
	return { deliverer, sender };
}

const pausesMaxAgeMs = 5_000;

/** Publishes the metrics that only a worker has: its prices, the state of the store, its relayers' funds, pauses. */
function watchWorker({
	meter,
	config,
	chains,
	priceCache,
	desk,
	db,
	nowMs,
}: {
	meter: Meter;
	config: Config;
	chains: readonly WorkerChain[];
	priceCache: PriceCache;
	desk: Desk;
	/** A pool apart from that of swaps. */
	db: DatabasePool;
	nowMs: () => Milliseconds;
}): void {
	watchPrices({ meter, config, priceCache, desk, nowMs });
	watchDatabase({ meter, config, db, nowMs });
	watchRelayers({ meter, chains, db, nowMs });
	watchSigningKeys({ meter, config, chains, db });
	watchClock({ meter, db, nowMs });
	watchPauses({ meter, config, read: () => readPauses(db), maxAgeMs: pausesMaxAgeMs });
}

/** Creates the counters of a worker's actions. */
function workerMetrics(meter: Meter, { chains }: Pick<Config, "chains">) {
	const secondProvidersOf = chains.flatMap(({ chainId, agreeAboveUsd }) =>
		agreeAboveUsd === undefined ? [] : chainId,
	);
	const chainIds = chains.map(({ chainId }) => chainId);
	return {
		swaps: swapMetrics(meter, { chainIds, secondProvidersOf, payoutTokens: payoutTokensOf({ chains }) }),
		lanes: laneMetrics(meter, { chainIds }),
		followers: followerMetrics(meter, { chainIds }),
		ticks: tickMetrics(meter),
	};
}

/** Reads the vault's caps and the relayers' gas on an EVM chain. */
function readTreasuryOf(
	chainId: number,
	{ chains, evm }: { chains: readonly WorkerChain[]; evm: readonly EvmChain[] },
): Promise<TreasuryReading> {
	const chain = evm.find((one) => one.chainId === chainId);
	if (!chain) throw new RangeError(`chain ${chainId} is not a connected EVM chain`);
	const relayers = chains.find((one) => one.chainId === chainId)?.payers ?? [];
	return readTreasury(chain, { relayers });
}

/** Returns the price of each asset whose feed is live. */
function referencePrices(
	config: Pick<Config, "chains">,
	{ priceCache, nowMs }: { priceCache: PriceCache; nowMs: Milliseconds },
): PricedAsset[] {
	return configuredAssets(config).flatMap(({ chainId, token }) => {
		const id = { chainId, asset: token };
		if (!priceCache.isReferenceLive(id, { nowMs })) return [];
		return [{ chainId, token, usdE18: priceCache.reference(id).usdE18 }];
	});
}

/**
 * Returns the tokens that vaults need inventory of. On an EVM chain its settlement token buys all others. Those with
 * `fromInventory` are bought, too, once they are used up, so that is no incident.
 */
function payoutTokensOf({ chains }: Pick<Config, "chains">): PayoutToken[] {
	return configuredAssets({ chains }).flatMap((asset): PayoutToken[] => {
		const chain = chains.find(({ chainId }) => chainId === asset.chainId);
		if (chain?.kind !== "evm") return [{ ...asset, isSettlement: false }];
		return asset.token === chain.deployment.settlementToken ? [{ ...asset, isSettlement: true }] : [];
	});
}
