import type { Deployment } from "@geoswap/protocol";
import { type ChainState, chainStates } from "./chain-states.ts";
import { connectDevnetChain, type TestChain } from "./devnet-chain.ts";
import { type DevnetKeys, deriveDevnetKeys } from "./devnet-keys.ts";
import { keepFeedsFresh } from "./keep-feeds-fresh.ts";
import { keepPace } from "./keep-pace.ts";
import { refreshFeeds } from "./refresh-feeds.ts";
import { setUpChain } from "./set-up-chain.ts";
import { startAnvil } from "./start-anvil.ts";

export type TestChains = {
	origin: TestChain;
	destination: TestChain;
	deployment: Deployment;
	/** Development private keys. */
	keys: DevnetKeys;
	stop: () => Promise<void>;
};

/** The block time of chains, and how long their blocks can be reorged. */
export type ChainRhythm = {
	/** A block is final when two epochs of blocks are above it. The default is small. */
	slotsInAnEpoch?: number;
	/** If set, this process makes the blocks, and `withoutBlocks` can hold them back. */
	blockMs?: number;
};

/**
 * Starts two chains for the caller alone, set up like the devnet's, on free ports. They end with `stop`, or with the
 * process. With automine, each transaction gets a block and there are no others; a caller that moves the clock
 * refreshes the feeds. Otherwise there is a block each second, or every `blockMs`, and the feeds are kept fresh.
 */
export async function startTestChains({
	automine = true,
	...rhythm
}: { automine?: boolean } & ChainRhythm = {}): Promise<TestChains> {
	const states = await chainStates();
	const starting = states.map((state) => startChain(state, automine, rhythm));
	const started = await Promise.all(starting).catch(async (error) => {
		const settled = await Promise.allSettled(starting);
		for (const one of settled) if (one.status === "fulfilled") await one.value.stop();
		throw error;
	});
	const [origin, destination] = started.map(({ chain }) => chain);
	if (!origin || !destination) throw new Error("the devnet must have two chains");
	const { actors: _, ...keys } = deriveDevnetKeys();
	return {
		origin,
		destination,
		deployment: { chains: [origin.deployment, destination.deployment] },
		keys,
		stop: async () => {
			await Promise.all(started.map(({ stop }) => stop()));
		},
	};
}

async function startChain(
	{ chainId, stateFile, deployment }: ChainState,
	automine: boolean,
	{ slotsInAnEpoch = 2, blockMs }: ChainRhythm,
): Promise<{ chain: TestChain; stop: () => Promise<void> }> {
	const anvil = await startAnvil({ chainId, stateFile, slotsInAnEpoch });
	const chain: TestChain = { ...connectDevnetChain({ chainId, rpcUrl: anvil.url }), deployment };
	try {
		// The state is as old as the cache, but the clock shows the current time.
		await refreshFeeds(chain, deployment);
		// Enough blocks that this process has the state of `safe` and `finalized`.
		await chain.testClient.mine({ blocks: 2 * slotsInAnEpoch + 1 });
	} catch (error) {
		await anvil.stop();
		throw error;
	}
	if (automine) return { chain, stop: anvil.stop };
	return { chain, stop: await keepGoing(chain, { blockMs, stopAnvil: anvil.stop }) };
}

/**
 * Starts one more chain for the caller alone, set up like the devnet's, with a block each second. Its state is not
 * cached, so its set-up takes some seconds each time.
 */
export async function startAddedChain(
	chainId: number,
): Promise<{ chain: TestChain; stop: () => Promise<void> }> {
	const anvil = await startAnvil({ chainId, slotsInAnEpoch: 2 });
	try {
		const connected = connectDevnetChain({ chainId, rpcUrl: anvil.url });
		const chain = { ...connected, deployment: await setUpChain(connected) };
		await chain.testClient.mine({ blocks: 5 });
		return { chain, stop: await keepGoing(chain, { stopAnvil: anvil.stop }) };
	} catch (error) {
		await anvil.stop();
		throw error;
	}
}

/** Makes blocks and keeps the feeds fresh. Returns a function that ends all of it, and the node. */
async function keepGoing(
	chain: TestChain,
	{ blockMs, stopAnvil }: { blockMs?: number | undefined; stopAnvil: () => Promise<void> },
): Promise<() => Promise<void>> {
	const stopMaking = await makeBlocks(chain, blockMs);
	const stopKeeping = keepFeedsFresh(chain, chain.deployment);
	return async () => {
		await stopMaking();
		await Promise.all([stopKeeping(), stopAnvil()]);
	};
}

async function makeBlocks(chain: TestChain, blockMs: number | undefined): Promise<() => Promise<void>> {
	if (blockMs !== undefined) {
		await chain.testClient.setAutomine(false);
		return keepPace(chain, blockMs);
	}
	await chain.testClient.setIntervalMining({ interval: 1 });
	return async () => {};
}
