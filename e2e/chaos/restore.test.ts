import { setTimeout as sleep } from "node:timers/promises";
import { serverCommand } from "@geoswap/devnet";
import { fromSwapId, type SubmitResponse } from "@geoswap/protocol";
import { type Client, type EndedSwap, GeoswapError, getChains, getStatus, waitForSwap } from "@geoswap/sdk";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { signSolanaSwap, submitSignedSolana } from "../caller/do-solana-swap.ts";
import { signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { type AnyPlan, countStatuses, type EndedAnyPlan, planMixedSwap } from "../caller/mixed-swaps.ts";
import { isSolanaChain } from "../chain/holding.ts";
import { backUp, restore, stopAll } from "../environment/back-up.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import type { OwnEnvironment } from "../environment/environment.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { ownEnvironment } from "../own-environment.ts";

/** Enough swaps for all routes twice, or for as often as needed. */
const swapCounts = { both: 50, database: 30, engine: 30 };
const swapsBefore = 4;
/** Time for an order's last deadline, its finality, and the rounds of work that follow. */
const decidedWithinMs = 300_000;

const environmentOf = ownEnvironment();
let client: Client;
let planned = 0;
/** All swaps ever made here: nothing else may have been delivered. */
const ended: EndedAnyPlan[] = [];

beforeAll(async () => {
	client = await environmentOf().newClient();
}, 60_000);

type Submitted = AnyPlan &
	Pick<EndedAnyPlan, "account" | "signed"> & {
		signed: { build: { geoOp: { orderId: string } } };
		/** Submits the same bytes again. */
		submit: () => Promise<SubmitResponse>;
		swapId: string;
		/** The reported outcome before anything was lost. */
		told?: EndedSwap["status"];
	};

const revertAlways = "0x5f5ffd";

/** Plans a swap to a contract that takes no ether: the order is given up, and refunded. */
async function planRefusal({ origin, destination }: OwnEnvironment): Promise<AnyPlan> {
	const recipient = privateKeyToAddress(generatePrivateKey());
	await destination.testClient.setCode({ address: recipient, bytecode: revertAlways });
	return {
		from: { chain: origin, token: "USDC", amount: 100_000_000n },
		to: { chain: destination, token: "ETH" },
		recipient,
	};
}

/** Submits one more swap with a new wallet that holds only the input. Without a plan, it is the next of the mix. */
async function submitNext(given?: AnyPlan): Promise<Submitted> {
	const environment = environmentOf();
	const { deployment: pins } = environment;
	const plan = given ?? (await planMixedSwap(environment, planned++));
	const { chain, token, amount } = plan.from;
	const { from, to, recipient } = plan;
	if (isSolanaChain(chain)) {
		const holding = token === "SOL" ? { lamports: amount } : { [token.toLowerCase()]: amount };
		const caller = { client, pins, account: await environment.solana.newWallet(holding) };
		const signed = await signSolanaSwap(caller, swapIntent({ from, to, recipient, account: caller.account }));
		const submit = () => submitSignedSolana(caller, signed);
		return { ...plan, account: caller.account, signed, submit, ...(await submit()) };
	}
	const caller = { client, pins, account: await environment.newWallet({ chain, token, amount }) };
	const signed = await signSwap(caller, swapIntent({ from, to, recipient, account: caller.account }));
	const submit = () => submitSigned(caller, signed);
	return { ...plan, account: caller.account, signed, submit, ...(await submit()) };
}

function submitMany(count: number): Promise<Submitted[]> {
	return Promise.all(Array.from({ length: count }, () => submitNext()));
}

/** Submits a swap again, because a restored service does not know it before, and waits for its end. */
async function askAgain(swap: Submitted): Promise<EndedAnyPlan> {
	for (const deadline = Date.now() + decidedWithinMs; ; await sleep(2_000)) {
		try {
			const { swapId } = await swap.submit();
			expect(swapId).toBe(swap.swapId);
			return { ...swap, swap: await waitForSwap(client, swapId) };
		} catch (error) {
			if (!(error instanceof GeoswapError)) throw error;
			// A caller that gets this error may sign another op: so this one must never have been executed.
			if (error.code === "OP_EXPIRED") return { ...swap, swap: neverOpened(swap) };
			if (Date.now() > deadline) throw error;
		}
	}
}

function neverOpened({ swapId, signed }: Submitted): EndedSwap {
	return {
		swapId,
		status: "failed",
		orderId: signed.build.geoOp.orderId,
		funds: { amount: "0" },
	} as unknown as EndedSwap;
}

async function runStory(what: "both" | "database" | "engine"): Promise<void> {
	const environment = environmentOf();
	const count = swapCounts[what];
	const kept = await submitMany(swapsBefore / 2);
	ended.push(...(await Promise.all(kept.map(askAgain))));
	const underWay = await submitMany(swapsBefore / 2);
	const backup = await backUp(environment);

	// Some swaps are decided, the others are anywhere in between.
	const decided = await submitMany(Math.ceil(count / 2));
	await Promise.all(
		decided.map(async (swap) => {
			swap.told = (await waitForSwap(client, swap.swapId)).status;
		}),
	);
	const early = await Promise.all([
		submitMany(Math.ceil(count / 4)),
		submitNext(await planRefusal(environment)),
	]);
	await sleep(3_000);
	const late = await submitMany(Math.floor(count / 4));
	await someDeposit(late);
	await stopAll(environment);
	const forgotten = [...decided, ...early.flat(), ...late];
	await restore(environment, backup, { what });

	const fromEvm = forgotten.filter(({ from }) => !isSolanaChain(from.chain));
	if (what !== "engine") await expectRebuilt(fromEvm);
	const again = await Promise.all([...underWay, ...forgotten].map(askAgain));
	for (const { told, swap } of again as (EndedAnyPlan & Pick<Submitted, "told">)[]) {
		if (told) expect(swap.status).toBe(told);
	}
	console.log(`restored ${what}:`, countStatuses(again));
	expect(countStatuses(again).refunded).toBeGreaterThan(0);
	ended.push(...again);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, ended);
	await liftPauses(environment);
}

/**
 * Lifts the pauses. To an audit, the service's transactions on Solana for forgotten orders look like a stolen key: one
 * that runs before the orders are submitted again pauses the chain. Once the books agree, an operator lifts that.
 */
async function liftPauses({ databaseUrl, serverEnvironment, solana }: OwnEnvironment): Promise<void> {
	const database = await connectDatabase(databaseUrl);
	try {
		const paused = await database.query<{ chain_id: string; cause: string }>(
			"select chain_id, cause from pauses where lifted_at is null",
		);
		expect(paused.filter(({ chain_id }) => Number(chain_id) !== solana.chainId)).toEqual([]);
		expect(paused.filter(({ cause }) => cause !== "breach")).toEqual([]);
		if (paused.length === 0) return;
	} finally {
		await database.end();
	}
	const reason = "restored from a backup, and the books agree";
	const lift = ["pauses", "lift", String(solana.chainId), "--by", "an operator", "--reason", reason];
	await serverCommand(serverEnvironment, lift);
	await expect
		.poll(() => getChains(client).then(({ chains }) => chains.every(({ paused }) => !paused)), {
			timeout: 30_000,
		})
		.toBe(true);
}

/** Waits until one of them is opened, and nothing can have come of that yet. */
async function someDeposit(swaps: readonly Submitted[]): Promise<void> {
	const ids = swaps.map(({ swapId }) => fromSwapId(swapId));
	const database = await connectDatabase(environmentOf().databaseUrl);
	try {
		for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(20)) {
			const [opened] = await database.query(
				`select from chain_events e join swaps s on s.order_id = e.order_id
				where s.id = any($1) and e.name = 'Opened' limit 1`,
				[ids],
			);
			if (opened) return;
		}
	} finally {
		await database.end();
	}
	throw new Error("none of them was opened");
}

/** Expects each order that is open on its chain to have a row again, without an account. */
async function expectRebuilt(swaps: readonly Submitted[]): Promise<void> {
	const database = await connectDatabase(environmentOf().databaseUrl);
	try {
		const read = () =>
			database.query<{ outcome: string | null; account_id: string | null; has_op: boolean }>(
				`select outcome, account_id, op is not null as has_op from unknown_orders u
				left join swaps s on s.order_id = u.order_id`,
			);
		const openedCount = await expect
			.poll(async () => (await read()).length, { timeout: 60_000, interval: 1_000 })
			.toBeGreaterThan(0)
			.then(async () => (await read()).length);
		await expect
			.poll(async () => (await read()).filter(({ outcome }) => outcome === null), {
				timeout: decidedWithinMs,
				interval: 1_000,
			})
			.toEqual([]);
		const rebuilt = await read();
		expect(rebuilt.length).toBeGreaterThanOrEqual(openedCount);
		expect(rebuilt.filter(({ outcome }) => outcome !== "rebuilt")).toEqual([]);
		expect(rebuilt.filter(({ has_op }) => has_op)).toEqual([]);
	} finally {
		await database.end();
	}
	const answers = await Promise.all(
		swaps.map(({ swapId }) =>
			getStatus(client, swapId).then(
				({ status }) => status,
				(error: unknown) => (error as GeoswapError).code,
			),
		),
	);
	expect(new Set(answers)).toEqual(new Set(["SWAP_NOT_FOUND"]));
}

test("after a restore of database and engine from an old backup, each order is found on its chain, and nothing is lost or paid twice [I8-9]", () =>
	runStory("both"));

test("after a restore of the database alone from an old backup, nothing is lost, paid twice or stuck", () =>
	runStory("database"));

test("after a restore of the engine alone from an old backup, nothing is lost, paid twice or stuck", () =>
	runStory("engine"));
