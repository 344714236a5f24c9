import type { Deployment } from "@geoswap/protocol";
import { privateKeyToAddress } from "viem/accounts";
import { expectFreePort } from "./chain-process.ts";
import { connectDevnetChain, type DevnetChain, devnetChains } from "./devnet-chain.ts";
import { type DevnetFiles, type RunningDevnet, removeRunningFile, writeDevnetFiles } from "./devnet-files.ts";
import { type DevnetKeys, deriveDevnetKeys } from "./devnet-keys.ts";
import { keepFeedsFresh } from "./keep-feeds-fresh.ts";
import { setUpChain } from "./set-up-chain.ts";
import type { SolanaDevnetKeys } from "./solana/development-solana-keys.ts";
import { startTestSolana, type TestSolana } from "./solana/start-test-solana.ts";
import { solanaFeeds } from "./solana-feeds.ts";
import { type Anvil, startAnvil } from "./start-anvil.ts";

export type Devnet = {
	running: RunningDevnet;
	deployment: Deployment;
	keys: DevnetKeys;
	solanaKeys: SolanaDevnetKeys;
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
	/** Port of the first chain; the second and Solana are on the next ports. */
	port: number;
	dataDir: string;
	onProgress?: (line: string) => void;
}): Promise<Devnet> {
	const { actors: _, ...keys } = deriveDevnetKeys();
	const specs = devnetChains.map((spec, i) => ({ ...spec, port: port + i }));
	const solanaPort = port + specs.length;
	for (const one of [...specs.map((spec) => spec.port), solanaPort]) await expectFreePort(one);

	const anvils: Anvil[] = [];
	let solana: TestSolana | undefined;
	let isStopping = false;
	try {
		const starting = await Promise.allSettled(
			specs.map(async ({ chainId, name, port }) => {
				const anvil = await startAnvil({ chainId, port });
				anvils.push(anvil);
				onProgress(`${name}: listens on ${anvil.url}`);
				const chain = connectDevnetChain({ chainId, rpcUrl: anvil.url });
				const deployment = await setUpChain(chain, (line) => onProgress(`${name}: ${line}`));
				// Instant mining was for the set-up; from here on the chain has a block time, as real ones have.
				await chain.testClient.setIntervalMining({ interval: 1 });
				return { chain, deployment };
			}),
		);
		// A failure is thrown only now, because a chain that was still starting when the other failed would be left running.
		const chains = starting.map((one) => {
			if (one.status === "rejected") throw one.reason;
			return one.value;
		});
		const [first] = chains;
		if (!first) throw new Error("the devnet must have chains");
		// Solana starts last, because its deployment refers to the feeds of a chain that is set up.
		const started = await startTestSolana({
			port: solanaPort,
			feeds: solanaFeeds(first.deployment),
		});
		solana = started;
		onProgress(`${started.deployment.name}: listens on ${started.rpcUrl}`);
		const deployment: Deployment = {
			chains: chains.map(({ deployment }) => deployment),
			solana: started.deployment,
			receiptSigners: [privateKeyToAddress(keys.receipt)],
		};
		const running: RunningDevnet = {
			pid: process.pid,
			chains: chains.map(({ chain }) => endpoint(chain)),
			solana: { chainId: started.deployment.chainId, rpcUrl: started.rpcUrl, wsUrl: started.wsUrl },
		};
		const files = writeDevnetFiles(dataDir, { deployment, keys, solanaKeys: started.keys, running });
		const stopKeeping = chains.map(({ chain, deployment }) => keepFeedsFresh(chain, deployment));
		const failed = Promise.race([...anvils, started].map(({ exited }) => exited)).then(() =>
			isStopping ? new Promise<never>(() => {}) : Promise.reject(new Error("a chain ended unexpectedly")),
		);
		// A caller may ignore this promise.
		failed.catch(() => {});
		return {
			running,
			deployment,
			keys,
			solanaKeys: started.keys,
			files,
			failed,
			stop: async () => {
				isStopping = true;
				removeRunningFile(dataDir);
				await Promise.all([
					...stopKeeping.map((stop) => stop()),
					...anvils.map((anvil) => anvil.stop()),
					started.stop(),
				]);
			},
		};
	} catch (error) {
		await Promise.all([...anvils.map((anvil) => anvil.stop()), solana?.stop()]);
		throw error;
	}
}

function endpoint({ chainId, rpcUrl }: DevnetChain): { chainId: number; rpcUrl: string } {
	return { chainId, rpcUrl };
}
