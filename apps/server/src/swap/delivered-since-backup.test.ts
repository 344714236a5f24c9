import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createInProcessDurable } from "../../test/in-process-durable.ts";
import { createSwapScene, destinationId, originId, token, workflowOptions } from "../../test/swap-scene.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { createSwapWorkflow } from "./swap-workflow.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test.each(["that was submitted again", "that was rebuilt without an op"])(
	"what was delivered since a backup counts as at risk until its input is ours: a swap %s",
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
		const durable = createInProcessDurable(async () => {
			await script.shift()?.();
			await scene.moveHeads(1);
			return "signalled";
		});
		await createSwapWorkflow(workflowOptions(pool, scene.clock))(durable, scene.uuid);
		expect(script).toEqual([]);
		expect(await atRisk()).toEqual([]);
	},
);
