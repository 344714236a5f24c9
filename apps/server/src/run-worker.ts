import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { toSolanaWord } from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { connectChain, type EvmChain } from "./chain/evm/chain-client.ts";
import { refuseDevelopmentKeys } from "./chain/evm/refuse-development-keys.ts";
import type { OnChainCall } from "./chain/on-chain-call.ts";
import { checkOwnAccounts } from "./chain/solana/check-own-accounts.ts";
import { connectSolana, type SolanaChain } from "./chain/solana/connect-solana.ts";
import { readMarkers } from "./chain/solana/read-markers.ts";
import { refuseSolanaDevelopmentKeys } from "./chain/solana/refuse-solana-development-keys.ts";
import { parseSolanaKeys, type SolanaKeys } from "./chain/solana/solana-keys.ts";
import { type ChainConfig, type Config, readConfig, type SolanaConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { connectEngine } from "./durable/connect-engine.ts";
import { connectEngineAdmin } from "./durable/engine-admin.ts";
import { type Deployment, keepRegistered, registerDeployment } from "./durable/register-deployment.ts";
import { serveDurable } from "./durable/serve-durable.ts";
import { createTakeOver } from "./durable/take-over.ts";
import { expectChainIds } from "./expect-chain-ids.ts";
import { expectGenesisHash } from "./expect-genesis-hash.ts";
import { expectNamedKeys } from "./expect-named-keys.ts";
import { expectOwnAccounts } from "./expect-own-accounts.ts";
import { followChain } from "./follow/follow-chain.ts";
import { followSolana } from "./follow/follow-solana.ts";
import { keepAudited } from "./keep-audited.ts";
import { createLane } from "./lane/create-lane.ts";
import { createSolanaLane } from "./lane/create-solana-lane.ts";
import { lanePoke } from "./lane/lane-poke.ts";
import { lanesByChain } from "./lane/lanes-by-chain.ts";
import { leaveDeployment } from "./leave-deployment.ts";
import { createLog } from "./log.ts";
import { keepPrices } from "./price/keep-prices.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { parseRelayerKeys, readSecret } from "./secrets.ts";
import { openDatabase } from "./store/database.ts";
import { ensurePartitions } from "./store/ensure-partitions.ts";
import { readPauses } from "./store/pauses.ts";
import { recentMs } from "./store/unended-swaps.ts";
import { createAttestation } from "./swap/attestation-object.ts";
import { connectAttester } from "./swap/attester-client.ts";
import { pollHeartbeats } from "./swap/poll-heartbeats.ts";
import { rebuildOrders } from "./swap/rebuild-orders.ts";
import { createSecondProviders, type SecondProviders } from "./swap/second-providers.ts";
import { type ChainPoke, createSwapWorkflow } from "./swap/swap-workflow.ts";
import { sweep } from "./swap/sweep.ts";
import { rpcMetrics } from "./telemetry/rpc-metrics.ts";
import { startTelemetry } from "./telemetry/start-telemetry.ts";
import { swapMetrics } from "./telemetry/swap-metrics.ts";
import { createDesk } from "./venue/desk.ts";
import { deskChains } from "./venue/desk-chain.ts";
import { refundWorth } from "./venue/refund-worth.ts";
import { watchAudit } from "./watch-audit.ts";
import { watchDatabase } from "./watch-database.ts";
import { watchPauses } from "./watch-pauses.ts";
import { watchPrices } from "./watch-prices.ts";
import { watchRelayers } from "./watch-relayers.ts";

const sweepEveryMs = 10_000;
/** Of all that have not ended, however old. */
const sweepsPerWhole = 60;
const partitionsEveryMs = 3_600_000;
const partitionsDaysAhead = 7;
const ownAccountsEveryMs = 60_000;
/** Several within the time that one counts. */
const heartbeatsPerLife = 5;
/** And often enough that nobody waits long for attesters that are back. */
const heartbeatEveryMs = 15_000;
const retryMaxMs = 5_000;
/** The engine tries something on an older version a few times in that. */
const takeOverAfterMs = 20_000;
/** An execution that waits is put to sleep after a minute. */
const takeOverHungAfterMs = 75_000;
const takeOverEveryMs = 5_000;
/** An engine that starts again is back by then. */
const supersededWithinMs = 30_000;
/** Apart from what swaps need: whoever looks at metrics waits in a line of its own, and not long. */
const watchingDatabase = { applicationName: "geoswapd worker metrics", max: 1, statementTimeoutMs: 2_000 };
const pausesMaxAgeMs = 5_000;
/** One to hold the turn, one to read. */
const auditingDatabase = { applicationName: "geoswapd worker audit", max: 2 };
const attesterTimeoutMs = 3_000;
const secondProviderTimeoutMs = 3_000;
/** How long the first order of a list waits for others: one set of signatures serves them all. */
const attestationWindowMs = 500;

/** The process that runs swaps: their workflows, the lanes, and a follower for each chain. */
export async function runWorker(configPath: string): Promise<void> {
	const config = readConfig(configPath);
	const databaseUrl = readSecret("DATABASE_URL");
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
	const secondProvidersOf = [...config.chains, ...(config.solana ? [config.solana] : [])].flatMap(
		({ chainId, secondProvider }) => (secondProvider ? chainId : []),
	);
	const metrics = meter && swapMetrics(meter, { secondProvidersOf });
	const chains = config.chains.map((chain) => ({
		config: chain,
		chain: connectChain({ ...chain, onCall }),
		accounts: relayersOf(chain, relayerKeys),
	}));
	const solana = config.solana && (await solanaOf(config.solana, { onCall }));
	await Promise.all([
		expectChainIds(chains.map(({ chain }) => chain)),
		solana && expectGenesisHash(solana.chain),
	]);
	if (solana) await expectOwnAccounts(solana.chain);
	const stopping = new AbortController();
	const { signal } = stopping;

	const pool = openDatabase({ url: databaseUrl, applicationName: "geoswapd worker", max: 30 });
	const engine = connectEngine(config.restate);
	const admin = connectEngineAdmin(config.restate);
	const prices = { config, chains: chains.map(({ chain }) => chain), nowMs, signal, log };
	const { book, kept } = keepPrices(prices);
	const desk = createDesk({ config, book, nowMs, random: randomBytes });
	const pricedChains = deskChains(config);
	const watching = meter && openDatabase({ url: databaseUrl, ...watchingDatabase });
	const auditing = openDatabase({ url: databaseUrl, ...auditingDatabase });
	if (meter && watching) {
		watchPrices({ meter, config, book, desk, nowMs });
		watchDatabase({ meter, config, db: watching, nowMs });
		watchRelayers({ meter, chains, solana });
		watchPauses({ meter, config, read: () => readPauses(watching), maxAgeMs: pausesMaxAgeMs });
	}
	const attesters = config.attesters.map(({ url }) => connectAttester({ url, timeoutMs: attesterTimeoutMs }));
	const relayers = new Map(
		chains.map(({ chain, accounts }) => [chain.chainId, accounts.map((account) => account.address)]),
	);
	const lanePokeOf: ChainPoke = ({ chainId, nowMs: now }) => {
		if (solana && chainId === solana.chain.chainId) {
			const { bundleWindowMs } = solana.config;
			// All of them: an op names who pays for it, and no other lane can send it.
			return solana.relayers.flatMap((relayer) =>
				lanePoke({ chainId, relayers: [relayer], bundleWindowMs, nowMs: now }),
			);
		}
		const { bundleWindowMs } = config.chains.find((chain) => chain.chainId === chainId) ?? {};
		if (bundleWindowMs === undefined) return [];
		return lanePoke({ chainId, relayers: relayers.get(chainId) ?? [], bundleWindowMs, nowMs: now });
	};
	const attestationPoke: ChainPoke = ({ chainId, nowMs: now }) => {
		const key = String(chainId);
		const dedupeKey = `${key}:${Math.floor(now / attestationWindowMs)}`;
		return [{ target: { object: "attestation", key }, options: { delayMs: attestationWindowMs, dedupeKey } }];
	};

	await Promise.all(chains.map(refuseDelegatedRelayers));
	if (solana) await expectNamedKeys(pool, solana.config.deployment);
	await ensurePartitions(pool, { nowMs: nowMs(), daysAhead: partitionsDaysAhead });
	const server = await serveDurable({
		swap: createSwapWorkflow({
			config,
			pool,
			desk,
			lanePoke: lanePokeOf,
			attestationPoke,
			secondProviders: connectSecondProviders(config),
			tracer,
			metrics,
			nowMs,
			log,
		}),
		lane: lanesByChain({
			evm: createLane({
				chains: chains.map(({ chain, config: policy, accounts }) => ({ chain, policy, accounts })),
				pool,
				engine,
				freshMinimum: desk.freshMinimum,
				nowMs,
				tracer,
				log,
			}),
			solana:
				solana &&
				createSolanaLane({
					chain: solana.chain,
					keys: solana.keys,
					policy: solana.config,
					pool,
					engine,
					nowMs,
					tracer,
					log,
				}),
		}),
		attestation: createAttestation({
			config,
			pool,
			attesters,
			lanePoke: lanePokeOf,
			nowMs,
			newId: randomUUID,
			log,
		}),
		host: config.worker.host,
		port: config.worker.port,
		retryMaxMs,
		log,
	});
	log.info({ url: server.url }, "listening");

	const url = config.worker.publicUrl ?? server.url;
	let deployment: Deployment | undefined;
	let isLeaving = false;
	let sweeps = 0;
	const takeOver = createTakeOver({
		admin,
		engine,
		afterMs: takeOverAfterMs,
		hungAfterMs: takeOverHungAfterMs,
		nowMs: () => performance.now(),
		log,
	});
	const loops = [
		kept,
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
		...chains.map(({ chain, config: { pollMs } }) =>
			followChain({
				chain,
				pool,
				engine,
				relayers: relayers.get(chain.chainId) ?? [],
				pollMs,
				log,
				signal,
			}),
		),
		...(solana
			? [
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
					every(ownAccountsEveryMs, "a look at our Solana accounts", async () => {
						for (const lack of await checkOwnAccounts(solana.chain)) log.error(lack);
					}),
				]
			: []),
		registerDeployment({ admin, url, signal }).then(
			(registered) => {
				deployment = registered;
				if (registered.isSuperseded) {
					log.warn(
						{ deploymentId: registered.id },
						"a newer version serves: what began here is finished here",
					);
				} else log.info({ deploymentId: registered.id }, "the engine knows this worker");
			},
			(error: unknown) => {
				if (!signal.aborted) log.error({ err: error }, "the engine does not know this worker");
			},
		),
		every(takeOverEveryMs, "taking over from older versions", async () => {
			if (!deployment || isLeaving) return;
			const { id } = deployment;
			deployment = await keepRegistered({ admin, url, deployment, isLeaving: () => isLeaving });
			if (deployment.id !== id) {
				log.warn({ deploymentId: deployment.id }, "the engine had forgotten this worker, and knows it again");
			}
			await takeOver(deployment.id);
		}),
		every(sweepEveryMs, "sweep", () => {
			const isWhole = sweeps++ % sweepsPerWhole === 0;
			const fromMs = isWhole ? undefined : nowMs() - recentMs;
			const sweeping = sweep({ db: pool, engine, nowMs: nowMs(), fromMs });
			metrics?.sweeping(sweeping);
			return sweeping;
		}),
		every(sweepEveryMs, "rebuilding orders that have no swap", () =>
			rebuildOrders({
				config,
				pool,
				engine,
				worthOf: (order) => refundWorth(order, { chains: pricedChains, book, nowMs: nowMs() }),
				...(solana && {
					markersOf: (orderIds) =>
						readMarkers(solana.chain, {
							...{ base: solana.chain.deployment.vault, orderIds, commitment: "finalized" },
						}),
				}),
				nowMs,
				log,
			}),
		),
		every(
			Math.min(heartbeatEveryMs, (config.heartbeatSeconds * 1_000) / heartbeatsPerLife),
			"heartbeats",
			() => pollHeartbeats({ config, attesters, db: pool, nowMs: nowMs(), log }),
		),
		every(partitionsEveryMs, "partitions", () =>
			ensurePartitions(pool, { nowMs: nowMs(), daysAhead: partitionsDaysAhead }),
		),
	];

	async function every(ms: number, name: string, run: () => Promise<unknown>): Promise<void> {
		while (!signal.aborted) {
			await run().catch((error: unknown) => {
				if (!signal.aborted) log.warn({ err: error }, `${name} failed; it is tried again`);
			});
			await sleep(ms, undefined, { signal }).catch(() => {});
		}
	}

	async function drain(): Promise<void> {
		isLeaving = true;
		if (!deployment) return;
		const how = await leaveDeployment({
			admin,
			engine,
			deploymentId: deployment.id,
			answerWithinMs: supersededWithinMs,
			patienceMs: config.worker.drainSeconds * 1_000,
			log,
		});
		if (how === "left") process.exitCode = 1;
		// Whatever else may fail: started again at an address that the engine has forgotten, it would be the newest.
		if (how === "drained") process.exitCode = 0;
	}

	await runUntilStopped({
		stopping,
		drain,
		close: [
			() => server.close(),
			() => Promise.all(loops),
			() => Promise.all([pool.end(), watching?.end(), auditing.end()]),
			() => telemetry.stop(),
		],
		log,
	});
}

/** One that is down holds up what is asked of it, and nothing else: it is not waited for here. */
function connectSecondProviders({ chains, solana }: Config): SecondProviders {
	const timeoutMs = secondProviderTimeoutMs;
	return createSecondProviders({
		evm: chains.flatMap(({ secondProvider, ...chain }) =>
			secondProvider ? connectChain({ ...chain, rpcUrl: secondProvider.rpcUrl, timeoutMs }) : [],
		),
		solana:
			solana?.secondProvider && connectSolana({ ...solana, rpcUrl: solana.secondProvider.rpcUrl, timeoutMs }),
	});
}

/** The accounts that send transactions on a chain. Throws a message that a person can act on. */
function relayersOf({ chainId }: ChainConfig, relayerKeys: ReadonlyMap<number, Hex[]>) {
	const keys = relayerKeys.get(chainId) ?? [];
	if (keys.length === 0) throw new ConfigError("GEOSWAP_RELAYER_KEYS", `has no key for chain ${chainId}`);
	refuseDevelopmentKeys(keys, [chainId]);
	return keys.map((key) => privateKeyToAccount(key));
}

/** Solana, the keys of all that the service has there, and its lanes' names. Throws a message that a person can act on. */
async function solanaOf(
	config: SolanaConfig,
	{ onCall }: { onCall: OnChainCall | undefined },
): Promise<{ config: SolanaConfig; chain: SolanaChain; keys: SolanaKeys; relayers: Hex[] }> {
	const keys = await parseSolanaKeys(readSecret("GEOSWAP_SOLANA_KEYS"), config.deployment);
	refuseSolanaDevelopmentKeys(config.deployment);
	const relayers = keys.feePayers.map(({ address }) => toSolanaWord(address));
	return { config, chain: connectSolana({ ...config, onCall }), keys, relayers };
}

/** The EntryPoint takes bundles only from an account without code. */
async function refuseDelegatedRelayers({
	chain: { chainId, client },
	accounts,
}: {
	chain: EvmChain;
	accounts: readonly { address: Address }[];
}): Promise<void> {
	for (const { address } of accounts) {
		if (await client.getCode({ address })) {
			throw new ConfigError(
				"GEOSWAP_RELAYER_KEYS",
				`${address} has code on chain ${chainId} and cannot bundle`,
			);
		}
	}
}
