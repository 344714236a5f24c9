import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	type ChainRhythm,
	connectDevnetChain,
	createApiKey,
	type DevIris,
	type DevnetKeys,
	fundWallet,
	type Stack,
	solanaFeeds,
	startIris,
	startStack,
	startTestChains,
	startTestSolana,
	type TestChain,
} from "@geoswap/devnet";
import { type Deployment, isSolana } from "@geoswap/protocol";
import { type Client, createClient } from "@geoswap/sdk";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { startOtlpCollector } from "../measure/otlp-collector.ts";
import { type RpcCounts, readRpcCounts, startRpcCounter } from "../measure/rpc-counter.ts";
import { connectSolanaChain, type SolanaTestChain } from "../solana/solana-chain.ts";
import { type SolanaHoldings, solanaHoldings } from "../solana/solana-holdings.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { keepRefusals } from "./refusals.ts";

/** Everything that another process needs to use an environment. */
export type EnvironmentAddress = {
	baseUrl: string;
	apiKey: string;
	databaseUrl: string;
	adminUrl: string;
	logDir: string;
	/** The file that receives the services' spans, each a line of JSON. */
	tracesFile: string;
	metricsUrls: { api: string; worker: string; audit: string; engine: string };
	deployment: Deployment;
	keys: DevnetKeys;
	/** The nodes, and the counters through which the services reach them if calls are counted. */
	chains: { chainId: number; rpcUrl: string; counterUrl?: string | undefined }[];
	solana: {
		rpcUrl: string;
		wsUrl: string;
		counterUrl?: string | undefined;
		/** Balances by symbol, before the first swap. */
		heldAtStart: Pick<SolanaHoldings, "vault" | "escrow">;
	};
	/** Environment variables for the server's commands. */
	serverEnvironment: Record<string, string>;
};

/** The whole service on its own chains, from its users' point of view. */
export type Environment = Omit<EnvironmentAddress, "solana"> & {
	origin: TestChain;
	destination: TestChain;
	solana: SolanaTestChain & Pick<EnvironmentAddress["solana"], "heldAtStart">;
	/** A client with the key that all tests share. */
	client: Client;
	/** Creates a client of a new account. */
	newClient: () => Promise<Client>;
	/** Creates a key of a new account. */
	newKey: () => Promise<string>;
	/** Creates a wallet with this holding, and not one wei unless requested. */
	newWallet: (holding: {
		chain: TestChain;
		token: string;
		amount: bigint;
		ethWei?: bigint;
	}) => Promise<PrivateKeyAccount>;
	/** Returns the number of the services' calls so far, by method of a chain's node. */
	rpcCounts: (chain: { chainId: number }) => Promise<RpcCounts>;
};

export type OwnEnvironment = Environment & {
	/** Input of `joinEnvironment` in another process. */
	address: EnvironmentAddress;
	stack: Stack;
	/** The model of Circle's attestation service, which a test can make late, silent or wrong. */
	iris: DevIris;
	/** Removes the files unless `keepFiles` is set. */
	stop: (options?: { keepFiles?: boolean }) => Promise<void>;
};

/** Starts an environment for the caller alone. */
export async function startEnvironment({
	rhythm = {},
	countCalls = false,
	startProvider = async ({ rpcUrl }) => ({ url: rpcUrl, stop: async () => {} }),
	publish = (deployment) => deployment,
	treasury = {},
	...options
}: Pick<
	Parameters<typeof startStack>[0],
	"attesterCount" | "configure" | "signing" | "postgresSettings" | "onProgress"
> & {
	/** Block time and finality of the EVM chains. */
	rhythm?: ChainRhythm;
	/**
	 * Counts the services' calls to nodes, for `rpcCounts`. All calls then pass through this process, which costs it
	 * time.
	 */
	countCalls?: boolean;
	/** Starts the provider through which every process of the service reaches a node of an EVM chain. */
	startProvider?: (node: TestChain) => Promise<{ url: string; stop: () => Promise<void> }>;
	/** Returns the deployment file to begin with, once the providers are up. It may lack some of what is on the chains. */
	publish?: (deployment: Deployment) => Deployment;
	/** Settings of the treasury, such as `{ mode: "act", policy: { horizonHours: 0.1 } }`. Its mode is `plan` otherwise. */
	treasury?: { mode?: "off" | "plan" | "act"; planSeconds?: number; policy?: Record<string, number> };
} = {}): Promise<OwnEnvironment> {
	const dataDir = mkdtempSync(join(tmpdir(), "geoswap-e2e-"));
	let chains: EnvironmentAddress["chains"] = [];
	let solana: EnvironmentAddress["solana"] | undefined;
	let iris: DevIris | undefined;
	const tracesFile = join(dataDir, "logs", "traces.jsonl");
	const collector = await startOtlpCollector(tracesFile);
	const { configure = (config) => config } = options;
	const stack = await startStack({
		...options,
		configure: (config) =>
			configure({
				...config,
				telemetry: { tracesUrl: collector.tracesUrl },
				treasury: { ...(config.treasury as object), ...treasury },
			}),
		dataDir,
		startChains: async () => {
			const evm = await startTestChains({ automine: false, ...rhythm });
			const { origin, destination, keys } = evm;
			const testSolana = await startTestSolana({
				feeds: solanaFeeds(origin.deployment),
			}).catch(async (error) => {
				await evm.stop();
				throw error;
			});
			const providers = await Promise.all([origin, destination].map(startProvider));
			const deployment = publish({ ...evm.deployment, solana: testSolana.deployment });
			const urls = [...providers.map(({ url }) => url), testSolana.rpcUrl];
			const counters = await Promise.all(urls.map((url) => startRpcCounter(url)));
			// The URL contains a key, as a provider's does. The nodes themselves take none.
			const keyed = counters.map(({ url }) => `${url}/${randomBytes(24).toString("base64url")}`);
			// Both URLs lead to the same node. One is the node's own or its provider's, the other is a counter's before it.
			const urlsOf = (i: number) => {
				const [url = "", counter = ""] = [urls[i], keyed[i]];
				return countCalls ? { rpcUrl: counter, secondRpcUrl: url } : { rpcUrl: url, secondRpcUrl: counter };
			};
			const counterUrl = (i: number) => (countCalls ? counters[i]?.url : undefined);
			chains = [origin, destination].map(({ chainId, rpcUrl }, i) => ({
				chainId,
				rpcUrl,
				counterUrl: counterUrl(i),
			}));
			// The model reads the nodes themselves, because Circle uses none of the service's providers.
			const model = await startIris({ chains: [origin, destination] });
			iris = model;
			const { rpcUrl, wsUrl } = testSolana;
			solana = { rpcUrl, wsUrl, counterUrl: counterUrl(2), heldAtStart: await heldBy(testSolana) };
			return {
				endpoints: chains.map(({ chainId }, i) => ({ chainId, ...urlsOf(i) })),
				solana: {
					chainId: testSolana.deployment.chainId,
					...urlsOf(2),
					wsUrl,
					keys: testSolana.keys,
				},
				deployment,
				keys,
				iris: model,
				stop: async () => {
					const inFront = [...counters, ...providers].map(({ stop }) => stop());
					await Promise.all([...inFront, model.stop(), evm.stop(), testSolana.stop()]);
				},
			};
		},
	});
	if (!solana || !iris) throw new Error("an environment has a Solana and an Iris");
	const { baseUrl, apiKey, databaseUrl, adminUrl, logDir, metricsUrls, deployment, keys } = stack;
	const address: EnvironmentAddress = {
		baseUrl,
		apiKey,
		databaseUrl,
		adminUrl,
		logDir,
		deployment,
		keys,
		chains,
		solana,
		tracesFile,
		metricsUrls,
		serverEnvironment: stack.environment,
	};
	return {
		...joinEnvironment(address),
		address,
		stack,
		iris,
		stop: async ({ keepFiles = false } = {}) => {
			await stack.stop();
			await collector.stop();
			if (!keepFiles) rmSync(dataDir, { recursive: true });
		},
	};
}

/** Joins a running environment, started in this process or in another. */
export function joinEnvironment(address: EnvironmentAddress): Environment {
	const { baseUrl, apiKey, deployment, chains, solana, serverEnvironment } = address;
	keepRefusals(address);
	const [origin, destination] = chains.map((endpoint): TestChain => {
		const deployed = deployment.chains.find(({ chainId }) => chainId === endpoint.chainId);
		if (!deployed) throw new Error(`the deployment has no chain ${endpoint.chainId}`);
		return { ...connectDevnetChain(endpoint), deployment: deployed };
	});
	if (!origin || !destination || !deployment.solana)
		throw new Error("an environment has two chains and a Solana");
	const newKey = () => createApiKey(serverEnvironment, `account-${generatePrivateKey().slice(2, 14)}`);
	return {
		...address,
		origin,
		destination,
		solana: {
			...connectSolanaChain({ ...solana, deployment: deployment.solana }),
			heldAtStart: solana.heldAtStart,
		},
		client: createClient({ baseUrl, apiKey }),
		newKey,
		newClient: async () => createClient({ baseUrl, apiKey: await newKey() }),
		newWallet: async ({ chain, token: symbol, amount, ethWei }) => {
			const account = privateKeyToAccount(generatePrivateKey());
			const wallet = account.address;
			const token = assetAddress(chain, symbol);
			await fundWallet(chain, { deployment: chain.deployment, wallet, token, amount });
			if (ethWei !== undefined) {
				const native = assetAddress(chain, "ETH");
				await fundWallet(chain, { deployment: chain.deployment, wallet, token: native, amount: ethWei });
			}
			return account;
		},
		rpcCounts: ({ chainId }) => {
			const counterUrl = isSolana(chainId)
				? solana.counterUrl
				: chains.find((chain) => chain.chainId === chainId)?.counterUrl;
			if (!counterUrl) throw new Error(`no counter for chain ${chainId}`);
			return readRpcCounts(counterUrl);
		},
	};
}

async function heldBy(
	solana: Parameters<typeof solanaHoldings>[0],
): Promise<Pick<SolanaHoldings, "vault" | "escrow">> {
	const { vault, escrow } = await solanaHoldings(solana);
	return { vault, escrow };
}
