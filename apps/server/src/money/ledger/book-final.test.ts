import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { createSwapScene, destinationId, token } from "../../../test/swap/swap-scene.ts";
import { bookFinal } from "./book-final.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test.each([
	["failed", "400"],
	["pending", undefined],
])(
	"a late delivery for an order that was never opened is booked as a loss only if its swap has failed: %s",
	async (status, lost) => {
		const { pool } = database;
		const scene = await createSwapScene(pool, { isReserved: false });
		if (status === "failed") {
			await pool.query("update swaps set status = 'failed', ended_at = now() where id = $1", [scene.uuid]);
		}
		await scene.emit("Filled", destinationId, { delivered: "400", spentToken: token, spent: "400" });
		const { rows: events } = await pool.query("select max(block_number) as last from chain_events");
		const book = () =>
			bookFinal(pool, {
				chainId: destinationId,
				after: 0,
				upTo: Number(events[0].last),
				gas: [],
				vaults: [],
				assets: [],
			});
		await book();
		// A second call books nothing twice.
		await book();
		const { rows } = await pool.query(
			`select sum(amount)::text as amount from entries e join postings p on p.id = e.posting_id
		where account = 'loss' and order_id = (select order_id from swaps where id = $1)`,
			[scene.uuid],
		);
		expect(rows[0].amount ?? undefined).toBe(lost);
	},
);
