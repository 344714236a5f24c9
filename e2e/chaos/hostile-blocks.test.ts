import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestChain } from "@geoswap/devnet";
import { geoEscrowAbi, type Order, orderId, toWord, unpackDeadlines } from "@geoswap/protocol";
import { GeoswapError, getQuote, waitForSwap } from "@geoswap/sdk";
import { type Address, encodeFunctionData, parseEther, parseUnits } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type SwapCaller, signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { countStatuses, type EndedPlan, type PlannedSwap } from "../caller/mixed-swaps.ts";
import { swapThrough } from "../caller/swap-through.ts";
import { escrowState } from "../chain/escrow-state.ts";
import { revertOf } from "../chain/revert-of.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { parseMetrics } from "../measure/parse-metrics.ts";
import { ownEnvironment } from "../own-environment.ts";
import { type CappingProvider, type Caps, startCappingProvider } from "../trouble/capping-provider.ts";
import { type Flooder, floodKinds, startFlooder } from "../trouble/flooder.ts";
import { isRelayerWaiting, makeHostileBlocks } from "../trouble/hostile-blocks.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { sendTransaction } from "../wallet/send-bundle.ts";

const isFull = Boolean(process.env.GEOSWAP_FULL);
/** The limits of providers, one after the other on the same stack. */
const allCaps: readonly Caps[] = [
	{ maxLogs: 1 },
	{ maxLogs: 100 },
	{ maxLogs: 10_000 },
	{ maxBytes: 64 * 1024 },
	{ maxBytes: 2 * 1024 * 1024 },
];
const swapsPerCap = isFull ? 40 : 3;
const streamCount = isFull ? 8 : 3;
/** Five have more than 2 MB of events. */
const dustTransactions = isFull ? 5 : 1;
const patience = { timeout: 60_000, interval: 100 };
const decidedWithinMs = 240_000;

/** All swaps of this file. At its end, every delivery on the chains must be one of theirs. */
const swaps: EndedPlan[] = [];
const providers: CappingProvider[] = [];
const environmentOf = ownEnvironment({
	startProvider: async ({ rpcUrl }) => {
		const provider = await startCappingProvider({ targetUrl: rpcUrl });
		providers.push(provider);
		return provider;
	},
});

const flooders: Flooder[] = [];
beforeAll(async () => {
	const { origin, destination } = environmentOf();
	for (const [chain, other] of [
		[origin, destination],
		[destination, origin],
	] as const) {
		flooders.push(await startFlooder(chain, { destination: other, dustTransactions }));
	}
});
afterAll(() => setCaps({}));

test("a customer whose output is delivered in a block full of logs cannot take the input back", async () => {
	const environment = environmentOf();
	const { origin: there, destination: here, client, deployment: pins } = environment;
	const [flooder] = flooders as [Flooder];
	const amount = parseUnits("100", 6);
	const from = { chain: here, token: "USDC", amount };
	const to = { chain: there, token: "USDC" };
	const account = await environment.newWallet(from);
	const stranger = await environment.newWallet({ chain: here, token: "ETH", amount: parseEther("1") });
	const caller = { client, pins, account };
	const signed = await signSwap(caller, swapIntent({ from, to, account }));

	await there.testClient.setIntervalMining({ interval: 0 });
	onTestFinished(() => there.testClient.setIntervalMining({ interval: 1 }));
	const { swapId } = await submitSigned(caller, signed);
	await expect.poll(() => isRelayerWaiting(there, relayersOf(environment)), patience).toBe(true);
	for (const kind of floodKinds) await flooder.flood(kind);
	await there.testClient.setIntervalMining({ interval: 1 });
	await expect.poll(() => usdcOf(there, account), patience).toBeGreaterThan(0n);

	const order = await readOrder(here, account.address);
	const { refundAfter } = unpackDeadlines(order.deadlines);
	await expect
		.poll(
			async () => {
				const { timestamp } = await here.publicClient.getBlock();
				return timestamp >= refundAfter || (await stateOf(here, order)) !== "Opened";
			},
			{ ...patience, timeout: 200_000 },
		)
		.toBe(true);
	const refund = {
		to: here.deployment.contracts.escrow,
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [order] }),
	};
	await sendTransaction({ chain: here, account: stranger, ...refund });
	expect({
		state: await stateOf(here, order),
		input: await usdcOf(here, account),
		hasOutput: (await usdcOf(there, account)) > 0n,
	}).toEqual({ state: "Released", input: 0n, hasOutput: true });
	const late = here.publicClient.call({ ...refund, blockOverrides: { time: refundAfter + 1n } });
	expect(await revertOf(geoEscrowAbi, late)).toMatchObject({ errorName: "NotOpen" });
	const swap = await waitForSwap(client, swapId);
	expect(swap).toMatchObject({ status: "settled" });
	swaps.push({ from, to, recipient: account.address, account, signed, swap });
});

test("while no node returns the logs of a block, its chain takes no new swaps, and deliveries in the block are released", async () => {
	const environment = environmentOf();
	const { origin: there, destination: here, client, deployment: pins } = environment;
	const [flooder] = flooders as [Flooder];
	const [provider] = providers as [CappingProvider];
	const from = { chain: here, token: "USDC", amount: parseUnits("20", 6) };
	const to = { chain: there, token: "USDC" };
	const [account, other] = await Promise.all([environment.newWallet(from), environment.newWallet(from)]);
	const [caller, otherCaller] = [account, other].map((one) => ({ client, pins, account: one })) as [
		SwapCaller,
		SwapCaller,
	];
	const intent = swapIntent({ from, to, account: other });
	const [signed, otherSigned] = [
		await signSwap(caller, swapIntent({ from, to, account })),
		await signSwap(otherCaller, intent),
	];

	await there.testClient.setIntervalMining({ interval: 0 });
	onTestFinished(async () => {
		setCaps({});
		await there.testClient.setIntervalMining({ interval: 1 });
	});
	const { swapId } = await submitSigned(caller, signed);
	await expect.poll(() => isRelayerWaiting(there, relayersOf(environment)), patience).toBe(true);
	await flooder.flood("skipped orders");
	const unreadableBlock = (await there.publicClient.getBlockNumber()) + 1n;
	provider.setCaps({ unreadableBlock });
	await there.testClient.setIntervalMining({ interval: 1 });

	await expect.poll(() => unreadBlock(environment, there), patience).toBe(Number(unreadableBlock));
	const quote = () => refusalOf(getQuote(client, intent));
	await expect.poll(quote, patience).toMatchObject({ code: "NO_ROUTE", details: { reason: "paused" } });
	expect(await refusalOf(submitSigned(otherCaller, otherSigned))).toMatchObject({
		code: "LIQUIDITY_CHANGED",
		details: { reason: "paused" },
	});
	const swap = await waitForSwap(client, swapId);
	expect(swap).toMatchObject({ status: "settled" });
	swaps.push({ from, to, recipient: account.address, account, signed, swap });
	await expect.poll(() => escrowState(here, swap.orderId), patience).toBe("Released");
	expect(await quote()).toMatchObject({ code: "NO_ROUTE" });
	const told = { chainId: there.chainId, blockNumber: Number(unreadableBlock), reason: expect.any(String) };
	expect(await readWorkerLog(environment, /^a block is followed without all of its events/)).toContainEqual(
		expect.objectContaining(told),
	);

	provider.setCaps({});
	await expect.poll(quote, patience).toBeUndefined();
	await expect.poll(() => unreadBlock(environment, there), patience).toBe(0);
	const plan = { from, to, recipient: privateKeyToAddress(generatePrivateKey()) };
	swaps.push(await swapThrough(otherCaller, plan));
	expect(swaps.at(-1)?.swap).toMatchObject({ status: "settled" });
});

// In other runs the caps are tested with a follower alone, in `follow/evm/hostile-blocks.test.ts`.
test.runIf(isFull)(
	"with every tenth block full of logs, and providers that refuse too large responses, all swaps settle and each input is released once",
	async () => {
		const environment = environmentOf();
		const chains = [environment.origin, environment.destination];
		const hostile = chains.map((chain, i) =>
			makeHostileBlocks(chain, {
				flooder: flooders[i] as Flooder,
				relayers: relayersOf(environment),
			}),
		);
		onTestFinished(async () => {
			await Promise.all(hostile.map(({ stop }) => stop()));
		});
		const phases: (Caps & Record<string, unknown>)[] = [];
		for (const caps of allCaps) {
			const refusedBefore = countRefused();
			setCaps(caps);
			const startedAt = performance.now();
			await Promise.all(flooders.map(({ flood }) => flood("dust orders")));
			const done = await swapAll(environment, swapsPerCap);
			const seconds = Math.round((performance.now() - startedAt) / 1_000);
			swaps.push(...done);
			phases.push({ ...caps, ...countStatuses(done), seconds, refused: countRefused() - refusedBefore });
		}
		const blocks = (await Promise.all(hostile.map(({ stop }) => stop()))).flat();
		for (const flooder of flooders) await flooder.refundDust();
		console.table(phases);
		console.table(blocks);
		console.log(
			"largest answers in bytes",
			providers.map(({ maxBytes }) => maxBytes),
		);

		expect(swaps.filter(({ swap }) => swap.status !== "settled")).toEqual([]);
		await expectFollowed(environment);
		await expectBooksExact(environment, { withinMs: decidedWithinMs });
		await expectExact(environment, swaps);
		const states = await Promise.all(swaps.map(({ from, swap }) => escrowState(from.chain, swap.orderId)));
		expect(new Set(states)).toEqual(new Set(["Released"]));
		// The test proves nothing unless the hostile blocks had transactions of the service, and were refused.
		expect(blocks.filter(({ isShared }) => isShared).length).toBeGreaterThan(0);
		const isExceeded = ({ maxLogs = 1_000, maxBytes = 1_000_000 }: Caps) =>
			maxLogs < 1_000 || maxBytes < 1_000_000;
		expect(phases.filter((phase) => isExceeded(phase) && phase.refused === 0)).toEqual([]);
	},
);

/** Makes swaps in both directions, some of them above the value that a second provider must confirm. */
async function swapAll(environment: Environment, count: number): Promise<EndedPlan[]> {
	const { origin, destination, deployment: pins } = environment;
	const client = await environment.newClient();
	let next = 0;
	const streams = Array.from({ length: Math.min(streamCount, count) }, async () => {
		const done: EndedPlan[] = [];
		for (let n = next++; n < count; n = next++) {
			const [from, to] = n % 2 === 0 ? [origin, destination] : [destination, origin];
			const amount = parseUnits(n % 3 === 2 ? "100" : "20", 6);
			const plan: PlannedSwap = {
				from: { chain: from, token: "USDC", amount },
				to: { chain: to, token: "USDC" },
				recipient: privateKeyToAddress(generatePrivateKey()),
			};
			const account = await environment.newWallet(plan.from);
			done.push(await swapThrough({ client, pins, account }, plan));
		}
		return done;
	});
	return (await Promise.all(streams)).flat();
}

/** Expects the followers to reach the currently newest block. */
async function expectFollowed({ origin, destination, databaseUrl }: Environment): Promise<void> {
	const database = await connectDatabase(databaseUrl);
	try {
		for (const { chainId, publicClient } of [origin, destination]) {
			const newest = Number(await publicClient.getBlockNumber());
			const followed = async () => {
				const [row] = await database.query<{ number: string }>(
					"select number from chain_heads where chain_id = $1",
					[chainId],
				);
				return Number(row?.number);
			};
			await expect.poll(followed, { timeout: 15_000 }).toBeGreaterThanOrEqual(newest);
		}
	} finally {
		await database.end();
	}
}

/** Returns the error with which the service refuses a request; undefined if it does not. */
async function refusalOf(request: Promise<unknown>): Promise<GeoswapError | undefined> {
	try {
		await request;
	} catch (error) {
		if (error instanceof GeoswapError) return error;
		throw error;
	}
	return undefined;
}

/** Returns the number of the chain's oldest block that was followed without all of its events; 0 if there is none. */
async function unreadBlock(
	{ metricsUrls }: Environment,
	{ chainId }: TestChain,
): Promise<number | undefined> {
	const metrics = parseMetrics(await (await fetch(metricsUrls.worker)).text());
	const { samples = [] } = metrics.get("geoswap_follower_unread_block") ?? {};
	return samples.find(({ labels }) => labels.chain === String(chainId))?.value;
}

async function readWorkerLog({ logDir }: Environment, message: RegExp): Promise<unknown[]> {
	const lines = (await readFile(join(logDir, "worker.log"), "utf8")).split("\n").filter(Boolean);
	const entries = lines.map((line) => JSON.parse(line) as { msg?: string });
	return entries.filter(({ msg = "" }) => message.test(msg));
}

function setCaps(caps: Caps): void {
	for (const provider of providers) provider.setCaps(caps);
}

function countRefused(): number {
	return providers.flatMap(({ refused }) => Object.values(refused)).reduce((sum, count) => sum + count, 0);
}

/** Returns the addresses of the service's relayers. The devnet's others are strangers with ether. */
function relayersOf({ keys }: Environment): Address[] {
	return keys.relayers.slice(0, 2).map((key) => privateKeyToAddress(key));
}

/** Reads a wallet's order from the event of its opening. */
async function readOrder(chain: TestChain, wallet: Address): Promise<Order> {
	const { escrow } = chain.deployment.contracts;
	const [opened] = await chain.publicClient.getContractEvents({
		address: escrow,
		abi: geoEscrowAbi,
		eventName: "Opened",
		args: { wallet },
		fromBlock: 0n,
		strict: true,
	});
	if (!opened) throw new Error(`${wallet} has opened no order`);
	const derived = { originChainId: BigInt(chain.chainId), escrow: toWord(escrow), wallet: toWord(wallet) };
	return { ...derived, ...opened.args.terms };
}

function stateOf(chain: TestChain, order: Order) {
	return escrowState(chain, orderId(order));
}

function usdcOf(chain: TestChain, { address }: PrivateKeyAccount): Promise<bigint> {
	return tokenBalance(chain, assetAddress(chain, "USDC"), address);
}
