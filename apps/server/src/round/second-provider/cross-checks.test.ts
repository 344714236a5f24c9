import { pino } from "pino";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import {
	createSwapScene,
	destinationId,
	originId,
	roundOptions,
	type SwapScene,
	token,
} from "../../../test/swap/swap-scene.ts";
import type { DepositSight, ToldDeposit } from "../../chain/deposit-sight.ts";
import { markOrders } from "../../swap/due/mark-swaps.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { createRound } from "../run-round.ts";
import { createCrossChecks, type SecondProviders } from "./cross-checks.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	const { pool } = database;
	await pool.query("insert into inventory values ($1, $2, 1000, 1000, 0, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	await pool.query("insert into pair_volume values ($1, $2, 'buy', 0)", [destinationId, hexToBytes(token)]);
});
afterAll(() => database.drop());
beforeEach(async () => {
	await database.owner.query("truncate waits, jobs, exposures, reservations, chain_events, cross_checks");
	await database.pool.query("update inventory set reserved = 0; update pair_volume set in_flight = 0");
	asked.length = 0;
	lines.length = 0;
	words.length = 0;
});

const asked: ToldDeposit[] = [];
const lines: { level: number; msg: string; how?: string; swapId?: string }[] = [];
const words: string[] = [];
const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
const metrics = {
	moved: () => {},
	decided: () => {},
	givenUp: () => {},
	paidOut: () => {},
	secondAsked: (_: number, word: string) => void words.push(word),
};

type Answer = (scene: SwapScene) => DepositSight | Error;
const far: Answer = ({ clock }) => ({
	verdict: "agrees",
	headNumber: clock.number,
	finalizedNumber: clock.number - 3,
});

/** Returns rounds with a second provider at the origin that gives this answer. A scene's swap is worth 40 dollars. */
function worker(
	scene: SwapScene,
	{ answer, agreeAboveUsd = 10 }: { answer: Answer; agreeAboveUsd?: number },
) {
	const { config, ...options } = roundOptions(database.pool, scene.clock, { metrics, log });
	const chains = config.chains.map((chain) =>
		chain.chainId === originId ? { ...chain, agreeAboveUsd } : chain,
	);
	const secondProviders: SecondProviders = async (chainId, deposit) => {
		expect(chainId).toBe(originId);
		asked.push(deposit);
		const said = answer(scene);
		if (said instanceof Error) throw said;
		return said;
	};
	const runRound = createRound({
		...options,
		config: { ...config, chains },
		poke: async (pokes) => {
			for (const { who, chainId } of pokes) if (who === "second-provider") await ask(String(chainId));
		},
	});
	const ask = createCrossChecks({
		pool: database.pool,
		secondProviders,
		pokeRound: async () => void (await runRound()),
		metrics,
		nowMs: () => scene.clock.nowMs,
		log,
	});
	return runRound;
}

/** Runs rounds. After each, the next step of the script is done and two seconds pass. Returns the facts so far. */
async function run(
	scene: SwapScene,
	how: Parameters<typeof worker>[1],
	script: ((scene: SwapScene) => unknown)[],
): Promise<string[]> {
	const runRound = worker(scene, how);
	await markOrders(database.pool, [scene.orderId]);
	await runRound();
	for (const next of script) {
		await next(scene);
		await markOrders(database.pool, [scene.orderId]);
		await passPatience(scene);
		await runRound();
	}
	const { rows } = await database.pool.query("select fact from swap_events where swap_id = $1 order by seq", [
		scene.uuid,
	]);
	return rows.map((row) => row.fact);
}

/** Lets the time pass after which the second provider is queried again. */
async function passPatience(scene: SwapScene): Promise<void> {
	await scene.moveHeads(2);
	await database.pool.query("update waits set second_at = second_at - interval '2 seconds'");
}

const opened = ({ emit }: SwapScene) => emit("Opened", originId);
const pass = () => {};

async function crossChecks(scene: SwapScene): Promise<number | null> {
	const { rowCount } = await database.pool.query("select from cross_checks where order_id = $1", [
		hexToBytes(scene.orderId),
	]);
	return rowCount;
}

test("a large deposit that only one provider has is held, and delivered once the second has it too", async () => {
	const scene = await createSwapScene(database.pool);
	let answer: Answer = () => ({ verdict: "differs", how: "the block has no such deposit" });
	const steps = await run(scene, { answer: (now) => answer(now) }, [
		opened,
		async ({ jobs }) => expect(await jobs()).not.toHaveProperty("fill"),
		async ({ uuid, jobs }) => {
			expect(await jobs()).not.toHaveProperty("fill");
			expect(await readSwap(database.pool, uuid)).toMatchObject({ status: "pending", stage: "deposited" });
			answer = far;
		},
		async ({ jobs }) => expect(await jobs()).toMatchObject({ fill: "queued" }),
	]);
	expect(steps).toEqual(["opening", "deposit-unseen", "delivering"]);
	// Two honest nodes can be on two forks for some seconds.
	expect(lines.filter(({ level }) => level === pino.levels.values.error)).toEqual([]);
	expect(lines.filter(({ level }) => level === pino.levels.values.warn)).toHaveLength(1);
	expect(words).toEqual(["differs", "differs", "agrees"]);
	const { rows } = await database.pool.query(
		"select data from swap_events where swap_id = $1 and fact = 'delivering'",
		[scene.uuid],
	);
	expect(rows[0].data).toMatchObject({ agreeAboveUsd: 10 });
});

test("providers that differ for half a minute are logged as an error once, with the details of the deposit", async () => {
	const scene = await createSwapScene(database.pool);
	const answer: Answer = () => ({ verdict: "differs", how: "the block has no such deposit" });
	const wait = ({ moveHeads }: SwapScene) => moveHeads(14);
	await run(scene, { answer }, [opened, wait, wait, wait, wait]);
	const told = {
		swapId: scene.uuid,
		chainId: originId,
		orderId: scene.orderId,
		how: "the block has no such deposit",
		msg: expect.stringContaining("the providers disagree"),
	};
	expect(lines.filter(({ msg }) => msg.includes("the providers disagree"))).toEqual([
		expect.objectContaining({ ...told, level: pino.levels.values.warn }),
		expect.objectContaining({ ...told, level: pino.levels.values.error }),
	]);
});

test("the request to the second provider has the reported deposit's order, block and transaction", async () => {
	const scene = await createSwapScene(database.pool);
	await run(scene, { answer: far }, [opened]);
	const swap = await readSwap(database.pool, scene.uuid);
	expect(asked).toEqual([
		{
			orderId: scene.orderId,
			order: swap?.order,
			blockNumber: 100,
			blockHash: "0x00",
			transactionHash: swap?.originTxHash,
		},
	]);
});

test("a small deposit is not held, and the second provider is not queried", async () => {
	const scene = await createSwapScene(database.pool);
	const steps = await run(scene, { answer: () => new Error("must not be asked"), agreeAboveUsd: 40 }, [
		opened,
	]);
	expect(steps).toEqual(["opening", "delivering"]);
	expect(asked).toEqual([]);
	expect(await scene.jobs()).toMatchObject({ fill: "queued" });
});

test("an agreed deposit is not queried again", async () => {
	const scene = await createSwapScene(database.pool);
	await run(scene, { answer: far }, [opened]);
	expect(await crossChecks(scene)).toBe(1);
	await database.pool.query("delete from jobs where swap_id = $1 and kind = 'fill'", [scene.uuid]);
	await run(scene, { answer: () => new Error("must not be asked") }, []);
	expect(asked).toHaveLength(1);
	expect(await scene.jobs()).toMatchObject({ fill: "queued" });
});

test("a response about a dropped block no longer counts, and stays on record", async () => {
	const scene = await createSwapScene(database.pool);
	await run(scene, { answer: far }, [opened]);
	await database.owner.query("delete from chain_events where order_id = $1", [hexToBytes(scene.orderId)]);
	await run(scene, { answer: () => ({ verdict: "behind" }) }, [opened, pass]);
	expect(await scene.jobs()).not.toHaveProperty("fill");
	expect(asked).toHaveLength(3);
	await passPatience(scene);
	await run(scene, { answer: far }, []);
	expect(await scene.jobs()).toMatchObject({ fill: "queued" });
	expect(await crossChecks(scene)).toBe(2);
});

test.each<[string, Answer, string]>([
	["is behind", () => ({ verdict: "behind" }), "as deep yet"],
	[
		"has it, but not as deep",
		() => ({ verdict: "agrees", headNumber: 100, finalizedNumber: 99 }),
		"as deep yet",
	],
	["does not answer", () => new Error("took too long"), "does not answer"],
])("while the second provider %s nothing is delivered, and this is logged once", async (_, answer, said) => {
	const scene = await createSwapScene(database.pool);
	await run(scene, { answer }, [opened, pass, pass]);
	expect(await scene.jobs()).toEqual({ open: "queued" });
	expect(asked).toHaveLength(3);
	expect(lines.filter(({ level }) => level === pino.levels.values.warn)).toEqual([
		expect.objectContaining({ msg: expect.stringContaining(said) }),
	]);
	expect(await crossChecks(scene)).toBe(0);
});

test("a second provider that is down until the deadline prevents the swap's delivery, but not its refund", async () => {
	const scene = await createSwapScene(database.pool);
	const steps = await run(scene, { answer: () => new Error("down") }, [
		opened,
		({ moveHeads }) => moveHeads(115),
		async ({ jobs, emit }) => {
			expect(await jobs()).toMatchObject({ void: "queued" });
			await emit("Voided", destinationId);
		},
		pass,
		pass,
		pass,
		async ({ jobs }) => expect(await jobs()).toMatchObject({ refund: "unattested" }),
	]);
	expect(steps).toContain("voiding");
	expect(await readSwap(database.pool, scene.uuid)).toMatchObject({
		givingUp: "TOO_LATE",
		stage: "refunding",
	});
});

test("an order that cannot be read does not stop other deposits from being checked", async () => {
	const scenes = [await createSwapScene(database.pool), await createSwapScene(database.pool)] as const;
	const [poison, good] = scenes;
	const place = {
		blockNumber: 1,
		blockHash: "0x01",
		transactionHash: "0x02",
		finalizedNumber: 1,
		headNumber: 1,
	};
	await database.pool.query("update waits set ask_chain_id = $1, ask = $2", [
		originId,
		JSON.stringify({ chainId: originId, ...place }),
	]);
	await database.pool.query("update swaps set order_terms = '{}' where id = $1", [poison.uuid]);
	await createCrossChecks({
		pool: database.pool,
		secondProviders: async () => ({ verdict: "behind" }),
		pokeRound: async () => {},
		nowMs: () => good.clock.nowMs,
		log,
	})(String(originId));
	const { rows } = await database.pool.query(
		"select swap_id, second_word from waits where ask_chain_id is null",
	);
	expect(new Map(rows.map((row) => [row.swap_id, row.second_word]))).toEqual(
		new Map([
			[poison.uuid, "silent"],
			[good.uuid, "behind"],
		]),
	);
});
