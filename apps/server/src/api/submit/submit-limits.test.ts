import { randomBytes } from "node:crypto";
import type { SwapUuid } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refusalOf } from "../../../test/api/origin-scene.ts";
import { type SubmitScene, startSubmitScene } from "../../../test/api/submit-scene.ts";
import { sequence } from "../../../test/swap/sequence.ts";
import { openingGas, recordUnsettledGas } from "../../money/unsettled-gas.ts";

let scene: SubmitScene;
beforeAll(async () => {
	scene = await startSubmitScene();
});
afterAll(() => scene.stop());
beforeEach(async () => {
	await scene.reset();
	await scene.database.owner.query("truncate lane_transactions");
});

const overBudget = { code: "RATE_LIMITED", details: { reason: "gas_budget", retryAfterSeconds: 60 } };

test("ops in flight count against their account's gas budget before they cost anything", async () => {
	const [first, second] = [await newOp(), await newOp()];
	scene.knobs.gasUsdCents = 1n;
	scene.knobs.feePerGas = 1n;
	scene.knobs.unsettledGasUsdPerDay = 3_000;
	expect(await scene.submit(first.built, first.signature)).toMatchObject({ status: "pending" });
	expect(await refusalOf(scene.submit(second.built, second.signature))).toEqual(overBudget);
	await scene.database.owner.query("update swaps set status = 'settled'");
	expect(await scene.submit(second.built, second.signature)).toMatchObject({ status: "pending" });
});

test("gas of unfinished swaps counts as soon as it is mined", async () => {
	scene.knobs.gasUsdCents = 100n;
	const [first, second] = [await newOp(), await newOp()];
	await scene.submit(first.built, first.signature);
	await mine(first.quote.uuid, 50n);
	expect(await refusalOf(scene.submit(second.built, second.signature))).toEqual(overBudget);
});

test("concurrent submits stay within the gas budget together", async () => {
	const ops: Awaited<ReturnType<typeof newOp>>[] = [];
	while (ops.length < 6) ops.push(await newOp());
	scene.knobs.gasUsdCents = 1n;
	scene.knobs.feePerGas = 1n;
	// The first swap leaves some of the budget, the second none.
	scene.knobs.unsettledGasUsdPerDay = 8_000;
	const answers = await Promise.allSettled(ops.map(({ built, signature }) => scene.submit(built, signature)));
	expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
	expect(await scene.swapCount()).toBe(2);
});

test("an order that is already open gets no row while its account is over its gas budget", async () => {
	const { quote, built, signature } = await newOp();
	scene.knobs.gasUsdCents = 100n;
	await scene.database.owner.query(
		"insert into unsettled_gas values (gen_random_uuid(), 31337, $1, $2, 60)",
		[scene.accountId, new Date()],
	);
	await scene.land(signature, { quote });
	expect(await refusalOf(scene.submit(built, signature))).toMatchObject({
		code: "RATE_LIMITED",
		details: { reason: "gas_budget" },
	});
	expect(await scene.swapCount()).toBe(0);
	await scene.database.owner.query("truncate unsettled_gas");
	expect(await scene.submit(built, signature)).toMatchObject({ status: "pending" });
});

test("an account's unsettled swaps cost at most its gas budget plus one op in any case", async () => {
	const { owner } = scene.database;
	const seeds = process.env.GEOSWAP_FULL ? 20 : 1;
	for (let seed = 1; seed <= seeds; seed++) {
		const random = sequence(seed * 7_919);
		const below = (limit: number) => Math.floor(random() * limit);
		await scene.reset();
		await owner.query("truncate lane_transactions");
		scene.knobs.gasUsdCents = 1n;
		scene.knobs.feePerGas = 1n;
		scene.knobs.unsettledGasUsdPerDay = 25_000;
		const budget = 2_500_000;
		const unwinding = 130_000;
		const beside = Number(openingGas.perBundle + openingGas.perOrder);
		/** For each swap: the gas mined, the gas that may yet be, and whether anything is left to do. */
		const swaps = new Map<SwapUuid, { worst: number; mined: number; stage: "opening" | "open" | "over" }>();
		let largest = 0;
		for (let step = 0; step < 60; step++) {
			const undecided = [...swaps].filter(([, { stage }]) => stage !== "over");
			const [id, swap] = undecided[below(undecided.length)] ?? [];
			if (!id || !swap || below(3) === 0) {
				const { quote, built, signature } = await newOp();
				const answer = await scene.submit(built, signature).catch(() => undefined);
				if (!answer) continue;
				const { rows } = await owner.query("select (op->>'gas')::int as gas from swaps where id = $1", [
					quote.uuid,
				]);
				const worst = Math.ceil((rows[0].gas * 64) / 63) + beside;
				largest = Math.max(largest, worst + unwinding);
				swaps.set(quote.uuid, { worst, mined: 0, stage: "opening" });
			} else if (swap.stage === "opening") {
				const cost = below(swap.worst);
				swap.mined += cost;
				await mine(id, BigInt(cost));
				const isOpened = below(2) === 0;
				swap.stage = isOpened ? "open" : "over";
				if (isOpened) await owner.query("update swaps set stage = 'deposited' where id = $1", [id]);
				else if (below(2) === 0) await end(id, "failed");
			} else {
				const isSettled = below(3) === 0;
				if (isSettled) {
					swaps.delete(id);
					await owner.query("update swaps set status = 'settled', ended_at = now() where id = $1", [id]);
				} else {
					swap.mined += unwinding;
					swap.stage = "over";
					await mine(id, BigInt(unwinding));
					await end(id, "refunded");
				}
			}
			const cost = [...swaps.values()].reduce((sum, { worst, mined, stage }) => {
				const mayCost = { opening: worst + unwinding, open: unwinding, over: 0 }[stage];
				return sum + mined + mayCost;
			}, 0);
			expect(cost).toBeLessThanOrEqual(budget + largest);
		}
		expect(swaps.size).toBeGreaterThan(2);
	}
});

test("submits that wait for another submit of their account do not use up the database connections", async () => {
	const { pool } = scene.database;
	const wallet = await scene.newWallet({ isDelegated: true, amount: 500_000_000n });
	const ops: Awaited<ReturnType<typeof newOp>>[] = [];
	while (ops.length < 15) ops.push(await scene.signedOp(wallet));
	const slow = await pool.connect();
	await slow.query("begin");
	await slow.query("select pg_advisory_xact_lock(hashtextextended('account:' || $1, 0))", [scene.accountId]);
	const route = scene.submitRoute();
	const submits = ops.map(({ built, signature }) => scene.submit(built, signature, { route }));
	try {
		const waiting = "select count(*)::int from pg_locks where locktype = 'advisory' and not granted";
		const timeout = 20_000;
		await expect.poll(async () => (await slow.query(waiting)).rows, { timeout }).toEqual([{ count: 1 }]);
		await expect.poll(() => pool.waitingCount, { timeout }).toBe(0);
		await pool.query("select 1");
	} finally {
		await slow.query("commit");
		slow.release();
	}
	await Promise.all(submits);
	expect(await scene.swapCount()).toBe(15);
});

test("of four concurrent submits, each of 60 % of the wallet's balance, one is accepted", async () => {
	const wallet = await scene.newWallet({ isDelegated: true, amount: 16_666_666n });
	const ops = await Promise.all(Array.from({ length: 4 }, () => scene.signedOp(wallet)));
	const answers = await Promise.allSettled(ops.map(({ built, signature }) => scene.submit(built, signature)));
	expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
	for (const answer of answers) {
		if (answer.status === "fulfilled") continue;
		expect(answer.reason).toMatchObject({ code: "INSUFFICIENT_BALANCE", details: { balance: "6666666" } });
	}
	const { rows } = await scene.database.owner.query("select count(*) from reservations");
	expect(rows).toEqual([{ count: 1 }]);
});

test("a wallet and an account can have a limited number of unopened swaps, and submit more once they are open", async () => {
	const wallet = await scene.newWallet({ isDelegated: true, amount: 100_000_000n });
	const ops = await Promise.all(Array.from({ length: 6 }, () => scene.signedOp(wallet)));
	const submitAll = async () => {
		const answers = await Promise.allSettled(
			ops.map(({ built, signature }) => scene.submit(built, signature)),
		);
		const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
		for (const error of refused) {
			expect(error).toMatchObject({ code: "RATE_LIMITED", details: { reason: "unopened_swaps" } });
		}
		return answers.length - refused.length;
	};
	scene.knobs.unopenedSwaps = { perWallet: 2, perAccount: 5 };
	expect(await submitAll()).toBe(2);
	scene.knobs.unopenedSwaps = { perWallet: 5, perAccount: 3 };
	expect(await submitAll()).toBe(3);
	await scene.database.owner.query("update swaps set stage = 'deposited'");
	expect(await submitAll()).toBe(6);
});

test("an account's swaps take its share of the unreleased cap until their inputs are released, and no other account's", async () => {
	const { owner } = scene.database;
	const ops: Awaited<ReturnType<typeof newOp>>[] = [];
	while (ops.length < 6) ops.push(await newOp());
	// Half of it is enough for three swaps of 10 dollars.
	scene.knobs.unreleasedCapUsd = 60;
	const answers = await Promise.allSettled(ops.map(({ built, signature }) => scene.submit(built, signature)));
	const refused = ops.filter((_, i) => answers[i]?.status === "rejected");
	expect(refused).toHaveLength(3);
	const [next, last] = refused;
	if (!next || !last) throw new Error("there are three");
	const full = {
		code: "RATE_LIMITED",
		next: "retry",
		details: { reason: "cap_share", retryAfterSeconds: expect.any(Number) },
		message: expect.stringContaining("released"),
	};
	await expect(scene.submit(next.built, next.signature)).rejects.toMatchObject(full);
	// Delivered and settled, but not released.
	await owner.query("update swaps set stage = 'delivered', status = 'settled'");
	await owner.query(
		`insert into exposures (swap_id, order_id, origin_chain_id, attester_set, value_usd_cents, is_final, account_id)
		select id, order_id, 31337, decode(substr(order_terms->>'attesterSet', 3), 'hex'), value_usd_cents, true, account_id
		from swaps`,
	);
	await expect(scene.submit(next.built, next.signature)).rejects.toMatchObject(full);
	// They belong to another account.
	await owner.query("update exposures set account_id = gen_random_uuid()");
	await scene.submit(next.built, next.signature);
	await owner.query("update exposures set account_id = $1", [scene.accountId]);
	await expect(scene.submit(last.built, last.signature)).rejects.toMatchObject(full);
	await owner.query("delete from exposures");
	await scene.submit(last.built, last.signature);
});

test("an account's swaps take its share of the unfinal cap until their deposits are final", async () => {
	const { owner } = scene.database;
	const [first, second] = [await newOp(), await newOp()];
	scene.knobs.unfinalCapUsd = 30;
	await scene.submit(first.built, first.signature);
	await expect(scene.submit(second.built, second.signature)).rejects.toMatchObject({
		code: "RATE_LIMITED",
		details: { reason: "cap_share" },
		message: expect.stringContaining("final"),
	});
	const expose = async (isFinal: boolean) => {
		await owner.query("update swaps set stage = 'delivering'");
		await owner.query(
			`insert into exposures (swap_id, order_id, origin_chain_id, attester_set, value_usd_cents, is_final, account_id)
			select id, order_id, 31337, decode(substr(order_terms->>'attesterSet', 3), 'hex'), value_usd_cents, $1, account_id
			from swaps on conflict (swap_id) do update set is_final = $1`,
			[isFinal],
		);
	};
	await expose(false);
	await expect(scene.submit(second.built, second.signature)).rejects.toMatchObject({ code: "RATE_LIMITED" });
	await expose(true);
	await scene.submit(second.built, second.signature);
	// A swap that is larger than the share by itself is delivered once its deposit is final.
	await owner.query("truncate swaps, exposures, reservations");
	scene.knobs.unfinalCapUsd = 15;
	const large = await newOp();
	await scene.submit(large.built, large.signature);
});

test("an order that is already open is accepted beyond the share of the caps, and waits for its fill", async () => {
	const [first, second] = [await newOp(), await newOp()];
	scene.knobs.unreleasedCapUsd = 20;
	await scene.submit(first.built, first.signature);
	await scene.land(second.signature, { quote: second.quote });
	expect(await scene.submit(second.built, second.signature)).toMatchObject({ status: "pending" });
});

test("a swap's value is the quoted one, or the value at submit if that is higher", async () => {
	for (const [now, value] of [
		[undefined, 1_000n],
		[999n, 1_000n],
		[1_234n, 1_234n],
	] as const) {
		scene.knobs.valueUsdCents = now;
		const { quote, built, signature } = await newOp();
		await scene.submit(built, signature);
		const { rows } = await scene.database.pool.query(
			`select s.value_usd_cents as swap, r.value_usd_cents as reserved
			from swaps s join reservations r on r.swap_id = s.id where s.id = $1`,
			[quote.uuid],
		);
		expect(rows.map(({ swap, reserved }) => [BigInt(swap), BigInt(reserved)])).toEqual([[value, value]]);
	}
});

async function newOp() {
	return scene.signedOp(await scene.newWallet({ isDelegated: true }));
}

let nonce = 0;
/** Inserts a mined transaction of the lane for the swap, with this cost. */
async function mine(swapId: string, gasCost: bigint): Promise<void> {
	await scene.database.owner.query(
		`insert into lane_transactions
			(chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state, sent_at_block, block_number, gas_cost)
		values (31337, $1, $2, 0, $3, '', 'open', $4, 1, 'mined', 1, 1, $5)`,
		[hexToBytes("0x01"), ++nonce, randomBytes(32), JSON.stringify([{ swapId }]), gasCost],
	);
}

async function end(swapId: SwapUuid, status: "failed" | "refunded"): Promise<void> {
	const { owner } = scene.database;
	await owner.query("update swaps set status = $2 where id = $1", [swapId, status]);
	await recordUnsettledGas(scene.database.pools.worker, { swapIds: [swapId], nowMs: Date.now() });
	await owner.query("update swaps set ended_at = now() where id = $1", [swapId]);
}
