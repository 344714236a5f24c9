import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";

/** Gives a swap that was rebuilt from the chain to the account that holds its op token. */
export async function adoptSwap(
	db: Database,
	{ id, accountId }: { id: SwapUuid; accountId: string },
): Promise<void> {
	await db.query("update swaps set account_id = $2 where id = $1 and account_id is null", [id, accountId]);
}
