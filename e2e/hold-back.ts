import { fromSwapId } from "@geoswap/protocol";
import { connectDatabase } from "./connect-database.ts";

/**
 * Keeps a swap that is about to be submitted as it is: its first step waits for a row that is not committed here. Only
 * this swap waits, and goes on once released.
 */
export async function holdBack(
	databaseUrl: string,
	swapId: string,
): Promise<{ release: () => Promise<void> }> {
	const database = await connectDatabase(databaseUrl);
	await database.query("begin");
	await database.query("insert into waits (swap_id, order_id, signal_id) values ($1, '', '')", [
		fromSwapId(swapId),
	]);
	return {
		release: async () => {
			await database.query("rollback");
			await database.end();
		},
	};
}
