import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "../database/database.ts";

/** Reads the traces of the swaps that have one. */
export async function readTraces(
	db: Database,
	swapIds: readonly SwapUuid[],
): Promise<{ swapId: SwapUuid; trace: string }[]> {
	const { rows } = await db.query<{ id: SwapUuid; trace: string }>({
		name: "read-traces",
		text: "select id, trace from swaps where id = any($1::uuid[]) and trace is not null",
		values: [swapIds],
	});
	return rows.map(({ id, trace }) => ({ swapId: id, trace }));
}
