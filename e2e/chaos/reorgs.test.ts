import { serverCommand } from "@geoswap/devnet";
import { type EndedSwap, getStatus } from "@geoswap/sdk";
import type { Hex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { countStatuses, type EndedPlan, type PlannedSwap, planSwap } from "../caller/mixed-swaps.ts";
import { swapThrough } from "../caller/swap-through.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { deepFinality, finalityBlocks } from "../deep-finality.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { watchUnfinalDeliveries } from "../expect/unfinal-deliveries.ts";
import { ownEnvironment } from "../own-environment.ts";
import { type Storm, stormChains } from "../trouble/reorg-storm.ts";
import { readOrderEvents } from "../trouble/reorganize.ts";
import { seededRandom } from "../trouble/seeded-random.ts";
import { fundWallets } from "../wallet/fund-wallets.ts";
import { assetAddress } from "../wallet/make-order.ts";

const swapCount = 500;
const streamCount = 60;
/** Long enough for most deposits and deliveries in flight to become final. */
const calmMs = 45_000;
const seed = Number(process.env.GEOSWAP_SEED);
const unfinalCapUsd = 2_000;

/** Time until the last deadline of a swap that no process worked on has passed, and its outcome is final. */
const decidedWithinMs = 420_000;

/** With this block time a block is final after half a minute. */
const blockMs = 500;

const environmentOf = ownEnvironment(
	deepFinality({ blockMs, perChain: [{ unfinalCapUsd }, { unfinalCapUsd }] }),
);

type FundedPlan = PlannedSwap & { account: PrivateKeyAccount };

test("repeated reorgs of both chains within finality cost no wallet anything, and the service no more than its cap", async () => {
	const environment = environmentOf();
	const { origin, destination, deployment: pins } = environment;
	const chains = [origin, destination];
	const [client, database, watched] = await Promise.all([
		environment.newClient(),
		connectDatabase(environment.databaseUrl),
		connectDatabase(environment.databaseUrl),
	]);
	const plans = await planAll(environment);
	// The funding of the wallets is never dropped.
	const floors = new Map<number, number>();
	for (const { chainId, publicClient } of chains)
		floors.set(chainId, Number(await publicClient.getBlockNumber()));
	const startedAt = performance.now();
	const watch = watchUnfinalDeliveries(watched);
	onTestFinished(async () => {
		await watch.stop();
		await Promise.all([database.end(), watched.end()]);
	});

	const storm: Storm = { reorgs: [], dropped: [] };
	let isDecided = false;
	const waiting = [...plans];
	const random = seededRandom(seed);
	// The storm ends once all swaps are begun or decided, and a deposit and a settled delivery have been dropped.
	const isOver = () =>
		(isDecided || waiting.length === 0) && droppedDeposits(storm).size > 0 && droppedSettled(storm).size > 0;
	const storming = stormChains(storm, { chains, floors, database, random, calmMs, isOver });
	const swapping = Array.from({ length: streamCount }, async () => {
		const ended: EndedPlan[] = [];
		for (let plan = waiting.shift(); plan; plan = waiting.shift()) {
			ended.push(await swapThrough({ client, pins, account: plan.account }, plan));
		}
		return ended;
	});
	const first = (
		await Promise.all(swapping).finally(() => {
			isDecided = true;
		})
	).flat();
	const decidedMs = performance.now() - startedAt;
	await storming;

	await allEnded(database);
	const maxUnfinal = await watch.stop();
	// A delivery that was dropped and made again is another transaction, which is then in the status.
	const swaps = await Promise.all(
		first.map(async (plan) => ({
			...plan,
			swap: (await getStatus(client, plan.swap.swapId)) as EndedSwap,
		})),
	);
	expect(swaps.map(({ swap }) => swap.status)).toEqual(first.map(({ swap }) => swap.status));
	const losses = await expectNoUserLoss(environment, swaps);
	const lossCents = await readLossCents(database, losses);
	console.log(
		`seed ${seed}: ${swaps.length} swaps decided in ${Math.round(decidedMs / 1_000)} s`,
		countStatuses(swaps),
		describeStorm(storm, swaps),
		{
			lossUsd: Number(lossCents) / 100,
			maxUnfinalUsd: Object.fromEntries(
				[...maxUnfinal].map(([chain, cents]) => [chain, Number(cents) / 100]),
			),
		},
	);
	const printed = await serverCommand(environment.serverEnvironment, ["reconcile"]);
	console.log(printed);

	expect(storm.reorgs.every(({ depth }) => depth <= finalityBlocks)).toBe(true);
	for (const cents of maxUnfinal.values()) expect(cents).toBeLessThanOrEqual(BigInt(unfinalCapUsd * 100));
	expect(lossCents).toBeLessThanOrEqual(BigInt(unfinalCapUsd * 100));
	expect(reincluded(storm, swaps)).not.toBe(0);
	expect(redelivered(storm, swaps)).not.toBe(0);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
});

/** Creates funded wallets for all swaps. Every ninth recipient refuses payment, so that its input goes back. */
async function planAll(environment: Environment): Promise<FundedPlan[]> {
	const { origin, destination } = environment;
	const plans = Array.from({ length: swapCount }, (_, n): FundedPlan => {
		const plan = planSwap(environment, n);
		const account = privateKeyToAccount(generatePrivateKey());
		return n % 9 === 8 ? { ...plan, to: { ...plan.to, token: "ETH" }, account } : { ...plan, account };
	});
	const refusers = plans.filter((_, n) => n % 9 === 8);
	const revertAlways = "0x5f5ffd";
	for (const { to, recipient } of refusers) {
		await to.chain.testClient.setCode({ address: recipient, bytecode: revertAlways });
	}
	await Promise.all(
		[origin, destination].map((chain) =>
			fundWallets(
				chain,
				plans
					.filter(({ from }) => from.chain.chainId === chain.chainId)
					.map(({ from, account }) => ({
						wallet: account.address,
						token: assetAddress(from.chain, from.token),
						amount: from.amount,
					})),
			),
		),
	);
	return plans;
}

/** Waits until no work is left for any swap. */
async function allEnded(database: Awaited<ReturnType<typeof connectDatabase>>): Promise<void> {
	const unended = () =>
		database.query(
			`select id, status, stage, giving_up,
				(select jsonb_object_agg(kind, jsonb_build_object('state', state, 'failures', failures, 'reason', reason))
					from jobs where swap_id = id) as jobs,
				(select fact from swap_events where swap_id = id order by seq desc limit 1) as fact
			from swaps where ended_at is null`,
		);
	await expect.poll(unended, { timeout: decidedWithinMs, interval: 500 }).toEqual([]);
}

/**
 * Expects each wallet to have its input, or each recipient its output, exactly once. Returns the orders that were
 * delivered although the service lost their input in the end, so that the caller has both.
 */
async function expectNoUserLoss(
	{ origin, destination }: Environment,
	swaps: readonly EndedPlan[],
): Promise<Hex[]> {
	const events = (await Promise.all([origin, destination].map((chain) => readOrderEvents(chain, 0)))).flat();
	const count = (name: string, orderId: string) =>
		events.filter((event) => event.name === name && event.orderId === orderId).length;
	const outcomes = await Promise.all(
		swaps.map(async ({ from, to, recipient, account, signed, swap }) => {
			const { status, orderId, funds } = swap;
			const [kept, received] = await Promise.all([
				tokenBalance(from.chain, assetAddress(from.chain, from.token), account.address),
				tokenBalance(to.chain, assetAddress(to.chain, to.token), recipient),
			]);
			const isSettled = status === "settled";
			const isLost = isSettled && kept === from.amount;
			return {
				orderId: orderId as Hex,
				status,
				isLost,
				actual: {
					opened: count("Opened", orderId),
					filled: count("Filled", orderId),
					released: count("Released", orderId),
					refunded: count("Refunded", orderId),
					kept,
					received,
					isEnough: !isSettled || received >= signed.quote.minOutput,
				},
				expected: {
					opened: status === "failed" || isLost ? 0 : 1,
					filled: isSettled ? 1 : 0,
					released: isSettled && !isLost ? 1 : 0,
					refunded: status === "refunded" ? 1 : 0,
					kept: isSettled && !isLost ? 0n : from.amount,
					received: isSettled ? BigInt(funds.amount) : 0n,
					isEnough: true,
				},
			};
		}),
	);
	expect(outcomes.map(({ orderId, status, actual }) => ({ orderId, status, ...actual }))).toEqual(
		outcomes.map(({ orderId, status, expected }) => ({ orderId, status, ...expected })),
	);
	// Nothing was delivered to any other recipient.
	expect(events.filter(({ name }) => name === "Filled")).toHaveLength(
		swaps.filter(({ swap }) => swap.status === "settled").length,
	);
	return outcomes.filter(({ isLost }) => isLost).map(({ orderId }) => orderId);
}

async function readLossCents(
	database: Awaited<ReturnType<typeof connectDatabase>>,
	orderIds: readonly Hex[],
): Promise<bigint> {
	const [row] = await database.query<{ cents: string }>(
		"select coalesce(sum(value_usd_cents), 0)::text as cents from swaps where '0x' || encode(order_id, 'hex') = any($1)",
		[orderIds],
	);
	return BigInt(row?.cents ?? 0);
}

function droppedDeposits({ dropped }: Storm): Set<Hex> {
	return new Set(dropped.filter(({ name }) => name === "Opened").map(({ orderId }) => orderId));
}

function droppedSettled({ dropped }: Storm): Set<Hex> {
	return new Set(
		dropped
			.filter(({ name, status }) => name === "Filled" && status === "settled")
			.map(({ orderId }) => orderId),
	);
}

/** Counts the orders whose deposit was dropped, and that were not reported as failed. */
function reincluded(storm: Storm, swaps: readonly EndedPlan[]): number {
	const dropped = droppedDeposits(storm);
	return swaps.filter(({ swap }) => swap.status !== "failed" && dropped.has(swap.orderId as Hex)).length;
}

function redelivered(storm: Storm, swaps: readonly EndedPlan[]): number {
	const dropped = droppedSettled(storm);
	return swaps.filter(({ swap }) => dropped.has(swap.orderId as Hex)).length;
}

function describeStorm(storm: Storm, swaps: readonly EndedPlan[]) {
	const depths = storm.reorgs.map(({ depth }) => depth).toSorted((a, b) => a - b);
	const hashes = new Map(swaps.map(({ swap }) => [swap.orderId, swap.deliveryTxHash]));
	const droppedFills = storm.dropped.filter(({ name, status }) => name === "Filled" && status === "settled");
	return {
		reorgs: depths.length,
		depths: `${depths[0]} to ${depths.at(-1)}, half of them above ${depths[depths.length >> 1]}`,
		droppedEvents: Object.fromEntries(
			[...Map.groupBy(storm.dropped, ({ name }) => name)].map(([name, own]) => [name, own.length]),
		),
		depositsReincluded: reincluded(storm, swaps),
		settledRedelivered: redelivered(storm, swaps),
		inAnotherTransaction: new Set(
			droppedFills
				.filter(({ orderId, transactionHash }) => hashes.get(orderId) !== transactionHash)
				.map(({ orderId }) => orderId),
		).size,
	};
}
