import { fromWord, toWord } from "@geoswap/protocol";
import fc from "fast-check";
import { erc20Abi, hexToBytes } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	assetOf,
	createLaneScene,
	followHead,
	type LaneScene,
	newOrder,
	queueFill,
	queueWork,
	readJob,
} from "../../test/lane/lane-scene.ts";
import { plainPayments } from "../../test/lane/payment-facts.ts";
import { startLane } from "../../test/lane/start-lane.ts";
import { createLog } from "../telemetry/log.ts";

const amount = 9_950_000n;
/** All lines that a lane logs, and the metrics that it counts. */
const lines: { level: number; swapId?: string; problem?: string }[] = [];
const counted: string[] = [];

let scene: LaneScene;
beforeAll(async () => {
	scene = await createLaneScene();
	await followHead(scene.pool, scene.origin);
});
afterAll(() => scene.stop());

async function runLane({ relayer = 0 }: { relayer?: number } = {}): Promise<void> {
	await followHead(scene.pool, scene.destination);
	const run = startLane(scene, scene.destination, {
		policy: { bundleSize: 8, replaceAfterBlocks: 5 },
		payments: { ...plainPayments, worthE18: (asset) => asset.amount * 10n ** 12n, fillMarginBps: 500 },
		metrics: { paymentStopped: (chainId, problem) => counted.push(`${chainId} ${problem}`) },
		log: createLog({ level: "error", process: "test", write: (line) => lines.push(JSON.parse(line)) }),
	});
	await run(relayer);
}

/** Ways in which an intruder may change the rows of a job that is justified. */
const tamperings = {
	none: () => {},
	"no deposit": (id: string) =>
		change("delete from chain_events where order_id = (select order_id from swaps where id = $1)", id),
	"a deposit of another chain": (id: string) =>
		change(
			"update chain_events set chain_id = 7 where order_id = (select order_id from swaps where id = $1)",
			id,
		),
	"another event": (id: string) =>
		change(
			"update chain_events set name = 'Voided' where order_id = (select order_id from swaps where id = $1)",
			id,
		),
	"a deposit that is not final": (id: string) =>
		change(
			"update chain_events set block_number = 1000000 where order_id = (select order_id from swaps where id = $1)",
			id,
		),
	"no reservation": (id: string) => change("delete from reservations where swap_id = $1", id),
	"less reserved": (id: string) =>
		change("update reservations set amount = amount - 1 where swap_id = $1", id),
	"another token reserved": (id: string) =>
		change(
			"update reservations set token = decode('00000000000000000000000000000000000000aa', 'hex') where swap_id = $1",
			id,
		),
	"another chain's inventory reserved": (id: string) =>
		change("update reservations set chain_id = 7 where swap_id = $1", id),
	"no swap": (id: string) => change("delete from swaps where id = $1", id),
	"a swap of another order": (id: string) => change("update swaps set order_id = 'other' where id = $1", id),
	"more in the job": (id: string) =>
		change(
			`update jobs set payload = '{"delivery": {"kind": "inventory", "amount": "200000000000"}}' where swap_id = $1`,
			id,
		),
	"more in the job and reserved": async (id: string) => {
		await tamperings["more in the job"](id);
		await change("update reservations set amount = 200000000000 where swap_id = $1", id);
	},
	"settled, they say, without a deposit": async (id: string) => {
		await tamperings["no deposit"](id);
		await change("update swaps set status = 'settled' where id = $1", id);
	},
	"another recipient": (id: string) =>
		change(
			"update jobs set order_terms = jsonb_set(order_terms, '{recipient}', order_terms->'escrow') where swap_id = $1",
			id,
		),
} satisfies Record<string, (id: string) => unknown>;

async function change(text: string, id: string): Promise<void> {
	expect((await scene.owner.query(text, [id])).rowCount).toBe(1);
}

function usdcOf(holder: `0x${string}`): Promise<bigint> {
	const address = assetOf(scene.chains.destination, "USDC");
	return scene.destination.client.readContract({
		address,
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [holder],
	});
}

test("a fill is signed only if jobs, reservations and events agree, regardless of changes to them", async () => {
	const { vault } = scene.destination.deployment.contracts;
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.constantFrom(...(Object.keys(tamperings) as (keyof typeof tamperings)[])), {
				minLength: 6,
				maxLength: 12,
			}),
			async (names) => {
				await scene.owner.query("truncate jobs");
				lines.length = 0;
				counted.length = 0;
				const before = await usdcOf(vault);
				const fills = [];
				for (const name of names) fills.push({ name, ...(await queueFill(scene, { amount })) });
				for (const { name, swapId } of fills) await tamperings[name](swapId);
				await runLane();
				const honest = names.filter((name) => name === "none").length;
				await expect.poll(() => usdcOf(vault)).toBe(before - BigInt(honest) * amount);
				for (const { name, order, swapId } of fills) {
					const { state } = await readJob(scene.pool, swapId, "fill");
					const isHonest = name === "none";
					expect({ name, isSent: state === "sent" }).toEqual({ name, isSent: isHonest });
					expect(await usdcOf(fromWord(order.recipient))).toBe(isHonest ? amount : 0n);
				}
				expect(lines.filter(({ level, problem }) => level === 50 && problem)).toHaveLength(
					names.length - honest,
				);
				expect(counted).toHaveLength(names.length - honest);
			},
		),
		{ numRuns: process.env.GEOSWAP_FULL ? 100 : 6 },
	);
});

test("a fill without a deposit is held, and is signed once the follower has read the deposit", async () => {
	const { pool, owner } = scene;
	await owner.query("truncate jobs");
	const order = await newOrder(scene, { wallet: toWord(privateKeyToAddress(generatePrivateKey())) });
	const work = { kind: "fill", payload: { delivery: { kind: "inventory", amount } } } as const;
	const swapId = await queueWork(pool, order, work, { isJustified: false });
	await runLane();
	expect(await readJob(pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "liquidity" });
	await owner.query("truncate jobs");
	await queueWork(pool, order, work);
	await owner.query("update chain_events set order_id = $2 where order_id = $1", [
		hexToBytes((await readJob(pool, swapId, "fill")).orderId),
		Buffer.alloc(32),
	]);
	await runLane();
	expect(await readJob(pool, swapId, "fill")).toMatchObject({ state: "queued", failures: 0 });
	await owner.query(
		"update chain_events set order_id = (select order_id from swaps where id = $1) where order_id = $2",
		[swapId, Buffer.alloc(32)],
	);
	await scene.chains.destination.testClient.mine({ blocks: 1 });
	await runLane();
	expect(await readJob(pool, swapId, "fill")).toMatchObject({ state: "sent" });
});

test("a settled fill that a reorg dropped is delivered again, even if its deposit was dropped too", async () => {
	const { owner, chains, destination } = scene;
	const { testClient } = chains.destination;
	await owner.query("truncate jobs");
	const { order, swapId } = await queueFill(scene, { amount });
	const snapshot = await testClient.snapshot();
	await runLane();
	await expect.poll(() => usdcOf(fromWord(order.recipient))).toBe(amount);
	await owner.query("update swaps set status = 'settled' where id = $1", [swapId]);

	// Both chains drop their blocks; the follower undoes what it wrote, and the swap requests another fill.
	await testClient.revert({ id: snapshot });
	await tamperings["no deposit"](swapId);
	await owner.query("update jobs set state = 'queued', relayer = null, nonce = null where swap_id = $1", [
		swapId,
	]);
	await owner.query("update lane_transactions set state = 'final' where chain_id = $1", [
		destination.chainId,
	]);
	await runLane({ relayer: 1 });
	await expect.poll(() => usdcOf(fromWord(order.recipient))).toBe(amount);
});
