import type { ServiceProcess, TestChain } from "@geoswap/devnet";
import { geoEscrowAbi, geoVaultAbi, unpackDeadlines } from "@geoswap/protocol";
import type { Hex, PrivateKeyAccount } from "viem";
import { expect, test } from "vitest";
import { type EndedPlan, type PlannedSwap, planSwap } from "../caller/mixed-swaps.ts";
import { swapThrough } from "../caller/swap-through.ts";
import { blocksPass } from "../chain/blocks-pass.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { ownEnvironment } from "../own-environment.ts";

const heartbeatSeconds = 5;
const patience = { timeout: 150_000, interval: 250 };

/** Indexes in the mix of swaps, grouped by which attesters they need. */
const there = [0, 1, 3];
const back = [4];
const onOneChain = [2];

const environmentOf = ownEnvironment({
	configure: ({ chains, ...config }) => ({
		...config,
		heartbeatSeconds,
		// The refund of a swap in `back` is due later. It is still to be made, with time to spare, when those in `there` had
		// to be refunded without attesters.
		chains: Object.fromEntries(
			Object.entries(chains).map(([chainId, chain], i) => [
				chainId,
				{ ...chain, openSeconds: i === 0 ? 61 : 95, fillSeconds: 11, refundSeconds: 30 },
			]),
		),
	}),
});

/** All swaps since the environment started. */
const ended: EndedPlan[] = [];

test("while too few attesters send heartbeats, no swap that needs them is accepted or filled; once they are back, all settle", async () => {
	const environment = environmentOf();
	const [, ...gone] = environment.stack.processes.attesters;
	// These are delivered, but not released yet.
	const early = await swapAll([...there, ...back]);
	const waiting = await openWithout(gone);
	const filled = await countFilled();
	const local = await swapAll(onOneChain);
	await expect.poll(countSilent, patience).toBe(there.length + back.length);
	const submitted = await countSubmitted();
	const refused = swapAll(there);
	await blocksPass(environment.destination, 5n);
	expect(await countSubmitted()).toBe(submitted);
	expect(await countFilled()).toBe(filled + onOneChain.length);

	await Promise.all(gone.map((attester) => attester.start()));
	const swaps = [...early, ...local, ...(await waiting.ended), ...(await refused)];
	expect(swaps.map(({ swap }) => swap.status)).toEqual(swaps.map(() => "settled"));
	await expectBooksExact(environment, { withinMs: patience.timeout });
	await expectExact(environment, ended);
});

test("if attesters stay down for too long, swaps are refunded, either by the returned attesters or without them once that is allowed", async () => {
	const environment = environmentOf();
	const { origin, destination, stack } = environment;
	const { attesters } = stack.processes;
	const { ended: refunds } = await openWithout(attesters);
	const filled = await countFilled();
	const voided = () => Promise.all([origin, destination].map((chain) => countEvents(chain, "Voided")));
	await expect.poll(voided, patience).toEqual([back.length, there.length]);
	const refundedOn = () => countRefunded(origin);
	await expect.poll(refundedOn, patience).toBe(there.length);
	expect(await countFilled()).toBe(filled);

	await Promise.all(attesters.map((attester) => attester.start()));
	const [refunded, late] = await Promise.all([refunds, swapAll([...there, ...back])]);
	for (const { swap } of refunded) {
		expect(swap).toMatchObject({ status: "refunded", failure: { code: "TOO_LATE" } });
	}
	const dueLater = refunded.filter(({ from }) => from.chain.chainId === destination.chainId);
	expect(dueLater).toHaveLength(back.length);
	for (const one of dueLater) expect(await refundTime(one)).toBeLessThan(refundAfter(one));
	expect(late.map(({ swap }) => swap.status)).toEqual(late.map(() => "settled"));
	await expectBooksExact(environment, { withinMs: patience.timeout });
	await expectExact(environment, ended);
});

/** Submits swaps while attesters are alive, and lets their deposits be made only when these attesters are silent. */
async function openWithout(gone: readonly ServiceProcess[]): Promise<{ ended: Promise<EndedPlan[]> }> {
	const { origin, destination, stack } = environmentOf();
	const chains = [origin, destination];
	const submittedBefore = await countSubmitted();
	const plans = await planAll([...there, ...back]);
	for (const { testClient } of chains) await testClient.setIntervalMining({ interval: 0 });
	try {
		const ending = swapPlanned(plans);
		ending.catch(() => {});
		await expect.poll(countSubmitted, patience).toBe(submittedBefore + plans.length);
		for (const attester of gone) attester.kill("SIGKILL");
		await expect.poll(countAlive, patience).toBe(stack.processes.attesters.length - gone.length);
		return { ended: ending };
	} finally {
		for (const { testClient } of chains) await testClient.setIntervalMining({ interval: 1 });
	}
}

async function swapAll(kinds: readonly number[]): Promise<EndedPlan[]> {
	return swapPlanned(await planAll(kinds));
}

type FundedPlan = PlannedSwap & { account: PrivateKeyAccount };

function planAll(kinds: readonly number[]): Promise<FundedPlan[]> {
	const environment = environmentOf();
	return Promise.all(
		kinds.map(async (kind) => {
			const plan = planSwap(environment, kind);
			return { ...plan, account: await environment.newWallet(plan.from) };
		}),
	);
}

async function swapPlanned(plans: readonly FundedPlan[]): Promise<EndedPlan[]> {
	const { client, deployment: pins } = environmentOf();
	const swaps = await Promise.all(
		plans.map(({ account, ...plan }) => swapThrough({ client, pins, account }, plan)),
	);
	ended.push(...swaps);
	return swaps;
}

function countSubmitted(): Promise<number> {
	return readCount("select count(*)::int from swaps");
}

/** Counts the attesters with a heartbeat that is recent enough. */
function countAlive(): Promise<number> {
	return readCount(
		"select count(distinct attester)::int from heartbeats where signed_at > now() - make_interval(secs => $1)",
		[heartbeatSeconds],
	);
}

/** Counts the swaps that wait for attesters. */
function countSilent(): Promise<number> {
	return readCount(
		`select count(*)::int from swaps s where 'attesters-silent' =
			(select fact from swap_events where swap_id = s.id order by seq desc limit 1)`,
	);
}

async function readCount(sql: string, values: unknown[] = []): Promise<number> {
	const database = await connectDatabase(environmentOf().databaseUrl);
	try {
		const [row] = await database.query<{ count: number }>(sql, values);
		return row?.count ?? 0;
	} finally {
		await database.end();
	}
}

async function countFilled(): Promise<number> {
	const { origin, destination } = environmentOf();
	const [there, here] = await Promise.all([
		countEvents(destination, "Filled"),
		countEvents(origin, "Filled"),
	]);
	return there + here;
}

async function countEvents(
	{ publicClient, deployment }: TestChain,
	eventName: "Filled" | "Voided",
): Promise<number> {
	const { vault: address } = deployment.contracts;
	const events = await publicClient.getContractEvents({
		address,
		abi: geoVaultAbi,
		eventName,
		fromBlock: 0n,
	});
	return events.length;
}

async function countRefunded({ publicClient, deployment }: TestChain): Promise<number> {
	const { escrow: address } = deployment.contracts;
	const events = await publicClient.getContractEvents({
		address,
		abi: geoEscrowAbi,
		fromBlock: 0n,
		eventName: "Refunded",
	});
	return events.length;
}

/** Returns the time from which anyone may refund it, with or without attesters. */
function refundAfter({ signed }: EndedPlan): bigint {
	return unpackDeadlines(BigInt(signed.build.geoOp.order.deadlines ?? 0)).refundAfter;
}

async function refundTime({ from, swap }: EndedPlan): Promise<bigint> {
	const { publicClient } = from.chain;
	const { blockNumber } = await publicClient.getTransactionReceipt({ hash: swap.refundTxHash as Hex });
	return (await publicClient.getBlock({ blockNumber })).timestamp;
}
