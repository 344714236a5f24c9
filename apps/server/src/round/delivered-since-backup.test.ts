import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { createSwapScene, destinationId, originId, roundOptions, token } from "../../test/swap/swap-scene.ts";
import { markOrders } from "../swap/due/mark-swaps.ts";
import { createRound } from "./run-round.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a delivered swap stays at risk when its reservation ends, even if no job records the fill", async () => {
	const { pool } = database;
	const scene = await createSwapScene(pool);
	await scene.emit("Opened", originId);
	await scene.emit("Filled", destinationId, { delivered: "400", spentToken: token, spent: "400" });
	const runRound = createRound(roundOptions(pool, scene.clock));
	await runRound();
	await scene.moveHeads(10);
	await runRound();
	expect(await scene.jobs()).toMatchObject({ release: "unattested" });
	expect((await pool.query("select from reservations where swap_id = $1", [scene.uuid])).rowCount).toBe(0);
	expect((await pool.query("select from exposures where swap_id = $1", [scene.uuid])).rowCount).toBe(1);
});

test.each(["that was submitted again", "that was rebuilt without an op"])(
	"a delivery since the backup of a swap %s counts as at risk until its input is released",
	async (kind) => {
		const { pool } = database;
		const scene = await createSwapScene(pool, { isReserved: false });
		if (kind.includes("rebuilt")) {
			await pool.query("update swaps set op = null where id = $1", [scene.uuid]);
		}
		const atRisk = async () => {
			const { rows } = await pool.query(
				"select value_usd_cents as cents, order_id, origin_chain_id as origin from exposures where swap_id = $1",
				[scene.uuid],
			);
			return rows;
		};
		const exposed = [
			{ cents: 4_000, order_id: Buffer.from(hexToBytes(scene.orderId)), origin: originId },
		].map((row) => expect.objectContaining(row));
		await scene.emit("Opened", originId);
		await scene.emit("Filled", destinationId, { delivered: "400", spentToken: token, spent: "400" });
		const script = [
			async () => expect(await atRisk()).toEqual(exposed),
			() => scene.moveHeads(10),
			async () => {
				expect(await scene.jobs()).toMatchObject({ release: "unattested" });
				expect(await atRisk()).toEqual(exposed);
				await scene.emit("Released", originId, { paid: true });
			},
			() => scene.moveHeads(10),
		];
		const runRound = createRound(roundOptions(pool, scene.clock));
		await runRound();
		for (const next of script) {
			await next();
			await markOrders(pool, [scene.orderId]);
			await scene.moveHeads(1);
			await runRound();
		}
		expect(await atRisk()).toEqual([]);
	},
);
