import type { Deployment } from "@geoswap/protocol";
import { privateKeyToAddress } from "viem/accounts";
import { type DevIris, startIris } from "./cctp/start-iris.ts";
import { expectFreePort } from "./chain-process.ts";
import { connectDevnetChain, devnetChains } from "./devnet-chain.ts";
import { type DevnetFiles, type RunningDevnet, removeRunningFile, writeDevnetFiles } from "./devnet-files.ts";
import { type DevnetKeys, deriveDevnetKeys } from "./devnet-keys.ts";
import { keepFeedsFresh } from "./keep-feeds-fresh.ts";
import { setUpChains } from "./set-up-chains.ts";
import type { SolanaDevnetKeys } from "./solana/development-solana-keys.ts";
import { startTestSolana } from "./solana/start-test-solana.ts";
import { solanaFeeds } from "./solana-feeds.ts";
import { type Anvil, startAnvil } from "./start-anvil.ts";
import { startOrder } from "./start-order.ts";

export type Devnet = {
	running: RunningDevnet;
	deployment: Deployment;
	keys: DevnetKeys;
	solanaKeys: SolanaDevnetKeys;
	iris: DevIris;
	files: DevnetFiles;
	/** Rejects when one of the chains ended by itself. */
	failed: Promise<never>;
	stop: () => Promise<void>;
};

/** Starts all chains with everything on them, block production, fresh feeds, and the files that describe them. */
export async function startDevnet({
	port,
	dataDir,
	onProgress = () => {},
}: {
	/** Port of the first chain; the second, Solana and Iris are on the next ports. */
	port: number;
	dataDir: string;
	onProgress?: (line: string) => void;
}): Promise<Devnet> {
	const { actors: _, ...keys } = deriveDevnetKeys();
	const specs = devnetChains.map((spec, i) => ({ ...spec, port: port + i }));
	const solanaPort = port + specs.length;
	const irisPort = solanaPort + 1;
	for (const one of [...specs.map((spec) => spec.port), solanaPort, irisPort]) await expectFreePort(one);

	const order = startOrder();
	let isStopping = false;
	try {
		const starting = specs.map(({ chainId, port }) => [chainId, startAnvil({ chainId, port })] as const);
		const anvils = await order.together<Record<string, Promise<Anvil>>>(Object.fromEntries(starting));
		const empty = specs.map(({ chainId, name }) => {
			const rpcUrl = anvils[chainId]?.url ?? "";
			onProgress(`${name}: listens on ${rpcUrl}`);
			return connectDevnetChain({ chainId, rpcUrl });
		});
		const chains = await setUpChains(empty, onProgress);
		// Instant mining was for the set-up; from here on the chain has a block time, as real ones have.
		await Promise.all(chains.map(({ testClient }) => testClient.setIntervalMining({ interval: 1 })));
		const [first] = chains;
		if (!first) throw new Error("the devnet must have chains");
		// Solana starts last, because its deployment refers to the feeds of a chain that is set up.
		const { solana, iris } = await order.together({
			solana: startTestSolana({ port: solanaPort, feeds: solanaFeeds(first.deployment) }),
			iris: startIris({ chains, port: irisPort }),
		});
		onProgress(`${solana.deployment.name}: listens on ${solana.rpcUrl}`);
		onProgress(`Iris, the model of Circle's attestation service: listens on ${iris.url}`);
		const deployment: Deployment = {
			chains: chains.map(({ deployment }) => deployment),
			solana: solana.deployment,
			receiptSigners: [privateKeyToAddress(keys.receipt)],
		};
		const running: RunningDevnet = {
			pid: process.pid,
			chains: chains.map(({ chainId, rpcUrl }) => ({ chainId, rpcUrl })),
			solana: { chainId: solana.deployment.chainId, rpcUrl: solana.rpcUrl, wsUrl: solana.wsUrl },
			irisUrl: iris.url,
		};
		const files = writeDevnetFiles(dataDir, { deployment, keys, solanaKeys: solana.keys, running });
		const stopKeeping = chains.map((chain) => keepFeedsFresh(chain, chain.deployment));
		const failed = Promise.race([...Object.values(anvils), solana].map(({ exited }) => exited)).then(() =>
			isStopping ? new Promise<never>(() => {}) : Promise.reject(new Error("a chain ended unexpectedly")),
		);
		// A caller may ignore this promise.
		failed.catch(() => {});
		return {
			running,
			deployment,
			keys,
			solanaKeys: solana.keys,
			iris,
			files,
			failed,
			stop: async () => {
				isStopping = true;
				removeRunningFile(dataDir);
				await Promise.all(stopKeeping.map((stop) => stop()));
				await order.stop();
			},
		};
	} catch (error) {
		await order.stop();
		throw error;
	}
}
