import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { checkOwnAccounts } from "../chain/solana/read/check-own-accounts.ts";
import { allChains } from "../config/all-chains.ts";
import type { Config } from "../config/config.ts";
import { readConfig } from "../config/read-config.ts";
import { parseRelayerKeys, readSecret } from "../config/secrets.ts";
import { openDatabase } from "../database/database.ts";
import { ensurePartitions } from "../database/ensure-partitions.ts";
import { createDesk } from "../desk/desk.ts";
import { deskChains } from "../desk/desk-chain.ts";
import { keepPrices } from "../desk/price/keep-prices.ts";
import { refundWorth } from "../desk/refund-worth.ts";
import { connectEngine } from "../durable/connect-engine.ts";
import { connectEngineAdmin } from "../durable/engine-admin.ts";
import { joinEngine } from "../durable/join-engine.ts";
import { serveDurable } from "../durable/serve-durable.ts";
import { followChain } from "../follow/evm/follow-chain.ts";
import { followSolana } from "../follow/solana/follow-solana.ts";
import { expectDatabase } from "../operate/preflight/expect-database.ts";
import { expectNamedKeys } from "../operate/preflight/expect-named-keys.ts";
import { keepAudited } from "../operate/reconcile/keep-audited.ts";
import { watchAudit } from "../operate/watch/watch-audit.ts";
import { connectAttester } from "../round/attestation/attester-client.ts";
import { pollHeartbeats } from "../round/attestation/poll-heartbeats.ts";
import { laneMetrics } from "../telemetry/lane-metrics.ts";
import { createLog } from "../telemetry/log.ts";
import type { Meter } from "../telemetry/meter.ts";
import { rpcMetrics } from "../telemetry/rpc-metrics.ts";
import { startTelemetry } from "../telemetry/start-telemetry.ts";
import { swapMetrics } from "../telemetry/swap-metrics.ts";
import { tickMetrics } from "../telemetry/tick-metrics.ts";
import { connectSecondProviders } from "./connect-second-providers.ts";
import { connectWorkerChains } from "./connect-worker-chains.ts";
import { createPumps } from "./create-pumps.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { watchWorker } from "./watch-worker.ts";

const tickEveryMs = 1_000;
const rebuildEveryMs = 10_000;
const partitionsEveryMs = 3_600_000;
const partitionsDaysAhead = 7;
const ownAccountsEveryMs = 60_000;
/** Number of polls within the time for which a heartbeat counts. */
const heartbeatsPerLife = 5;
/** Longest interval between polls, so that nobody waits long for attesters that are back. */
const heartbeatEveryMs = 15_000;
const retryMaxMs = 5_000;
const registeredEveryMs = 5_000;
/** Milliseconds that running pumps may take to end when the worker is told to stop. */
const finishWithinMs = 10_000;
/** Database connections for all that a worker does at once. */
const workConnections = 30;
/** Apart from the pool that swaps use: queries for metrics wait in a queue of their own, and not long. */
const watchingDatabase = { applicationName: "geoswapd worker metrics", max: 1, statementTimeoutMs: 2_000 };
/** One connection holds the turn, one reads. */
const auditingDatabase = { applicationName: "geoswapd worker audit", max: 2 };
const attesterTimeoutMs = 3_000;

/** Runs the process that works on swaps: rounds, lanes, attestations, and a follower for each chain. */
export async function runWorker(configPath: string): Promise<void> {
	const config = readConfig(configPath);
	const databaseUrl = readSecret("WORKER_DATABASE_URL");
	const auditorUrl = readSecret("AUDITOR_DATABASE_URL");
	const relayerKeys = parseRelayerKeys(readSecret("GEOSWAP_RELAYER_KEYS"));
	const log = createLog({ level: config.logLevel, process: "worker" });
	const nowMs = Date.now;
	const telemetry = await startTelemetry({
		config: config.telemetry,
		metrics: config.worker.metrics,
		service: "geoswapd worker",
		nowMs,
		log,
	});
	const { tracer, meter } = telemetry;
	const onCall = meter && rpcMetrics(meter);
	const metrics = meter && countersOf(meter, config);
	const { chains, solana } = await connectWorkerChains(config, { relayerKeys, onCall });
	const stopping = new AbortController();
	const { signal } = stopping;

	const pool = openDatabase({
		url: databaseUrl,
		applicationName: "geoswapd worker",
		// Each follower of a chain keeps a connection for as long as it follows.
		max: workConnections + chains.length + (solana ? 1 : 0),
	});
	const auditing = openDatabase({ url: auditorUrl, ...auditingDatabase });
	const watching = meter && openDatabase({ url: databaseUrl, ...watchingDatabase });
	const prices = { config, chains: chains.map(({ chain }) => chain), nowMs, signal, log };
	const { book, kept } = keepPrices(prices);
	const desk = createDesk({ config, book, nowMs, random: randomBytes });
	if (meter && watching) watchWorker({ meter, config, chains, solana, book, desk, db: watching, nowMs });
	await expectDatabase(pool, "worker", config.database.roles);
	await expectDatabase(auditing, "auditor", config.database.roles);
	if (solana) await expectNamedKeys(pool, solana.config.deployment);
	const makePartitions = () => ensurePartitions(pool, { nowMs: nowMs(), daysAhead: partitionsDaysAhead });
	await makePartitions();

	const attesters = config.attesters.map(({ url }) => connectAttester({ url, timeoutMs: attesterTimeoutMs }));
	const pricedChains = deskChains(config);
	const { pumps, engine, tick, rebuild } = createPumps({
		config,
		chains,
		solana,
		pool,
		engine: connectEngine(config.restate),
		desk,
		attesters,
		secondProviders: connectSecondProviders(config),
		worthOf: (order) => refundWorth(order, { chains: pricedChains, book, nowMs: nowMs() }),
		tracer,
		metrics,
		nowMs,
		newId: randomUUID,
		log,
	});
	const server = await serveDurable({
		pumps: pumps.pumps,
		host: config.worker.host,
		port: config.worker.port,
		identityKeys: config.restate.identityKeys,
		retryMaxMs,
		log,
	});
	log.info({ url: server.url }, "listening");
	const { joined, stay, leave } = joinEngine({
		admin: connectEngineAdmin(config.restate),
		url: config.worker.publicUrl ?? server.url,
		signal,
		log,
	});

	async function every(ms: number, name: string, run: () => Promise<unknown>): Promise<void> {
		while (!signal.aborted) {
			await run().catch((error: unknown) => {
				if (!signal.aborted) log.warn({ err: error }, `${name} failed; it is tried again`);
			});
			await sleep(ms, undefined, { signal }).catch(() => {});
		}
	}
	const loops = [
		kept,
		joined,
		keepAudited({
			config,
			books: {
				chains: config.chains,
				solana: config.solana,
				earlierAttesterSets: config.earlierAttesterSets.map(({ hash }) => hash),
			},
			pool: auditing,
			...(meter && watchAudit({ meter, config, nowMs })),
			nowMs,
			signal,
			log,
		}),
		...chains.map(({ chain, accounts, config: { pollMs } }) => {
			const relayers = accounts.map(({ address }) => address);
			return followChain({ chain, pool, engine, relayers, pollMs, log, signal });
		}),
		solana &&
			followSolana({
				chain: solana.chain,
				pool,
				engine,
				relayers: solana.relayers,
				outflowCaps: solana.config.outflowCaps,
				markerSeconds: solana.config.markerSeconds,
				pollMs: solana.config.pollMs,
				log,
				signal,
			}),
		solana &&
			every(ownAccountsEveryMs, "a look at our Solana accounts", async () => {
				for (const lack of await checkOwnAccounts(solana.chain)) log.error(lack);
			}),
		every(registeredEveryMs, "staying registered", stay),
		every(tickEveryMs, "tick", tick),
		every(rebuildEveryMs, "rebuilding orders that have no swap", rebuild),
		every(
			Math.min(heartbeatEveryMs, (config.heartbeatSeconds * 1_000) / heartbeatsPerLife),
			"heartbeats",
			() => pollHeartbeats({ config, attesters, db: pool, nowMs: nowMs(), log }),
		),
		every(partitionsEveryMs, "partitions", makePartitions),
	];

	await runUntilStopped({
		stopping,
		close: [
			() => Promise.all([pumps.finish(finishWithinMs), ...loops]),
			leave,
			() => server.close(),
			() => Promise.all([pool.end(), watching?.end(), auditing.end()]),
			() => telemetry.stop(),
		],
		log,
	});
}

function countersOf(meter: Meter, config: Pick<Config, "chains" | "solana">) {
	const chains = allChains(config);
	const secondProvidersOf = chains.flatMap(({ chainId, secondProvider }) => (secondProvider ? chainId : []));
	return {
		swaps: swapMetrics(meter, { secondProvidersOf }),
		lanes: laneMetrics(meter, { chainIds: chains.map(({ chainId }) => chainId) }),
		ticks: tickMetrics(meter),
	};
}
