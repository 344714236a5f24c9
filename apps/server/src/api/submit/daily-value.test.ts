import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refusalOf } from "../../../test/api/origin-scene.ts";
import { type SubmitScene, startSubmitScene } from "../../../test/api/submit-scene.ts";

let scene: SubmitScene;
beforeAll(async () => {
	scene = await startSubmitScene();
});
afterAll(() => scene.stop());
beforeEach(() => scene.reset());

/** Signs an op of this value. */
async function newOp(usd = 10) {
	const wallet = await scene.newWallet({ isDelegated: true });
	const quote = { ...scene.newQuote(wallet.address), valueUsdCents: BigInt(usd) * 100n };
	return scene.signedOp(wallet, undefined, quote);
}

/** Makes all swaps older by this much. */
async function age(seconds: number): Promise<void> {
	await scene.database.owner.query("update swaps set created_at = created_at - $1 * interval '1 second'", [
		seconds,
	]);
}

const hour = 3_600;

test("an account's swaps of 24 hours are worth at most its limit, and Retry-After is when there is room", async () => {
	const [first, second, third, large] = [await newOp(), await newOp(), await newOp(), await newOp(20)];
	scene.knobs.maxUsdPerDay = 25;
	await scene.submit(first.built, first.signature);
	await age(10 * hour);
	await scene.submit(second.built, second.signature);
	await age(hour);
	const refused = {
		code: "RATE_LIMITED",
		details: { reason: "daily_value", retryAfterSeconds: expect.any(Number) },
	};
	const refusal = await refusalOf(scene.submit(third.built, third.signature));
	expect(refusal).toEqual(refused);
	const { retryAfterSeconds } = refusal.details as { retryAfterSeconds: number };
	expect(retryAfterSeconds).toBeGreaterThan(13 * hour - 60);
	expect(retryAfterSeconds).toBeLessThanOrEqual(13 * hour);
	// A swap that needs the room of both must wait until both have left.
	const ofLarge = await refusalOf(scene.submit(large.built, large.signature));
	expect((ofLarge.details as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThan(22 * hour);
	await age(13 * hour);
	expect(await scene.submit(third.built, third.signature)).toMatchObject({ status: "pending" });
	expect(await scene.swapCount()).toBe(3);
});

test("swaps count however they end, except that a swap that was never opened gives its value back", async () => {
	const { owner } = scene.database;
	const [first, second, third] = [await newOp(), await newOp(), await newOp()];
	scene.knobs.maxUsdPerDay = 10;
	const end = (quote: { uuid: string }, status: string) =>
		owner.query("update swaps set status = $2, ended_at = now() where id = $1", [quote.uuid, status]);
	const full = { code: "RATE_LIMITED", details: { reason: "daily_value" } };
	await scene.submit(first.built, first.signature);
	await expect(scene.submit(second.built, second.signature)).rejects.toMatchObject(full);
	await end(first.quote, "failed");
	await scene.submit(second.built, second.signature);
	await end(second.quote, "refunded");
	await expect(scene.submit(third.built, third.signature)).rejects.toMatchObject(full);
	scene.knobs.maxUsdPerDay = 20;
	await scene.submit(third.built, third.signature);
	await end(third.quote, "settled");
	const fourth = await newOp();
	await expect(scene.submit(fourth.built, fourth.signature)).rejects.toMatchObject(full);
});

test("another account's swaps do not count, and a repeated submit does not either", async () => {
	const [first, second] = [await newOp(), await newOp()];
	scene.knobs.maxUsdPerDay = 10;
	const answer = await scene.submit(first.built, first.signature);
	expect(await scene.submit(first.built, first.signature)).toEqual(answer);
	await scene.database.owner.query("update swaps set account_id = gen_random_uuid()");
	expect(await scene.submit(second.built, second.signature)).toMatchObject({ status: "pending" });
});

test("a swap that alone is above the limit is refused, even if its order is open already", async () => {
	const { quote, built, signature } = await newOp();
	scene.knobs.maxUsdPerDay = 9.99;
	const refused = scene.submit(built, signature);
	await expect(refused).rejects.toMatchObject({
		code: "RATE_LIMITED",
		details: { reason: "daily_value", retryAfterSeconds: 86_400 },
		message: expect.stringContaining(
			"This swap alone is worth more than the limit of this account, 9.99 USD",
		),
	});
	await scene.land(signature, { quote });
	await expect(scene.submit(built, signature)).rejects.toMatchObject({ code: "RATE_LIMITED" });
	scene.knobs.maxUsdPerDay = 10;
	expect(await scene.submit(built, signature)).toMatchObject({ status: "pending" });
});

test("concurrent submits of any values never exceed the limit together, and leave no room that one would fit into", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.integer({ min: 10, max: 60 }), { minLength: 2, maxLength: 7 }),
			fc.integer({ min: 10, max: 150 }),
			async (values, limit) => {
				await scene.reset();
				scene.knobs.maxUsdPerDay = limit;
				const ops: Awaited<ReturnType<typeof newOp>>[] = [];
				for (const usd of values) ops.push(await newOp(usd));
				const answers = await Promise.allSettled(
					ops.map(({ built, signature }) => scene.submit(built, signature)),
				);
				const { rows } = await scene.database.owner.query(
					"select coalesce(sum(value_usd_cents), 0)::int as cents from swaps",
				);
				expect(rows[0].cents).toBeLessThanOrEqual(limit * 100);
				expect(await scene.swapCount()).toBe(answers.filter(({ status }) => status === "fulfilled").length);
				if (answers.some(({ status }) => status === "rejected")) {
					expect(rows[0].cents + Math.max(...values) * 100).toBeGreaterThan(limit * 100);
				}
			},
		),
		{ numRuns: process.env.GEOSWAP_FULL ? 60 : 8 },
	);
});
