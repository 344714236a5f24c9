import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	connectDevnetChain,
	createApiKey,
	type DevnetKeys,
	fundWallet,
	type Stack,
	startStack,
	startTestChains,
	type TestChain,
} from "@geoswap/devnet";
import type { Deployment } from "@geoswap/protocol";
import { type Client, createClient } from "@geoswap/sdk";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { assetAddress } from "./make-order.ts";
import { type RpcCounts, readRpcCounts, startRpcCounter } from "./rpc-counter.ts";

/** What another process needs to use an environment. */
export type EnvironmentAddress = {
	baseUrl: string;
	apiKey: string;
	databaseUrl: string;
	adminUrl: string;
	logDir: string;
	deployment: Deployment;
	keys: DevnetKeys;
	/** The nodes themselves, and the counters that the services reach them through. */
	chains: { chainId: number; rpcUrl: string; counterUrl: string }[];
	/** With which the server's commands can be run. */
	serverEnvironment: Record<string, string>;
};

/** The whole service on chains of its own, as its users see it. */
export type Environment = EnvironmentAddress & {
	origin: TestChain;
	destination: TestChain;
	/** With the key that everyone shares. */
	client: Client;
	/** A client of an account that nobody else has. */
	newClient: () => Promise<Client>;
	/** A key of an account that nobody else has. */
	newKey: () => Promise<string>;
	/** A new wallet that holds this, and not one wei unless asked for. */
	newWallet: (holding: {
		chain: TestChain;
		token: string;
		amount: bigint;
		ethWei?: bigint;
	}) => Promise<PrivateKeyAccount>;
	/** How often the services called each method of a chain's node so far. */
	rpcCounts: (chain: TestChain) => Promise<RpcCounts>;
};

export type OwnEnvironment = Environment & {
	/** For `joinEnvironment` in another process. */
	address: EnvironmentAddress;
	stack: Stack;
	/** Keeps the logs where asked to. */
	stop: (options?: { keepFiles?: boolean }) => Promise<void>;
};

/** An environment of the caller's own. */
export async function startEnvironment(
	options: Pick<Parameters<typeof startStack>[0], "attesterCount" | "configure" | "onProgress"> = {},
): Promise<OwnEnvironment> {
	const dataDir = mkdtempSync(join(tmpdir(), "geoswap-e2e-"));
	let chains: EnvironmentAddress["chains"] = [];
	const stack = await startStack({
		...options,
		dataDir,
		startChains: async () => {
			const { origin, destination, deployment, keys, stop } = await startTestChains({ automine: false });
			const counters = await Promise.all([origin, destination].map(({ rpcUrl }) => startRpcCounter(rpcUrl)));
			chains = [origin, destination].map(({ chainId, rpcUrl }, i) => ({
				chainId,
				rpcUrl,
				counterUrl: counters[i]?.url ?? "",
			}));
			return {
				endpoints: chains.map(({ chainId, counterUrl }) => ({ chainId, rpcUrl: counterUrl })),
				deployment,
				keys,
				stop: async () => {
					await Promise.all([...counters.map((counter) => counter.stop()), stop()]);
				},
			};
		},
	});
	const { baseUrl, apiKey, databaseUrl, adminUrl, logDir, deployment, keys } = stack;
	const address: EnvironmentAddress = {
		...{ baseUrl, apiKey, databaseUrl, adminUrl, logDir, deployment, keys, chains },
		serverEnvironment: stack.environment,
	};
	return {
		...joinEnvironment(address),
		address,
		stack,
		stop: async ({ keepFiles = false } = {}) => {
			await stack.stop();
			if (!keepFiles) rmSync(dataDir, { recursive: true });
		},
	};
}

/** Uses an environment that runs already, in this process or in another. */
export function joinEnvironment(address: EnvironmentAddress): Environment {
	const { baseUrl, apiKey, deployment, chains, serverEnvironment } = address;
	const [origin, destination] = chains.map((endpoint): TestChain => {
		const deployed = deployment.chains.find(({ chainId }) => chainId === endpoint.chainId);
		if (!deployed) throw new Error(`the deployment has no chain ${endpoint.chainId}`);
		return { ...connectDevnetChain(endpoint), deployment: deployed };
	});
	if (!origin || !destination) throw new Error("an environment has two chains");
	const newKey = () => createApiKey(serverEnvironment, `account-${generatePrivateKey().slice(2, 14)}`);
	return {
		...address,
		origin,
		destination,
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
			const counterUrl = chains.find((chain) => chain.chainId === chainId)?.counterUrl;
			if (!counterUrl) throw new Error(`no counter for chain ${chainId}`);
			return readRpcCounts(counterUrl);
		},
	};
}
