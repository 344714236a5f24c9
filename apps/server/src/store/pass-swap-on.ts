import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "./database.ts";

/** Leaves the swap to the next execution, unless another took over before: the sweep starts it. May be repeated. */
export async function passSwapOn(
	db: Database,
	{ swapId, execution }: { swapId: SwapUuid; execution: number },
): Promise<void> {
	await db.query("update waits set execution = $2 + 1 where swap_id = $1 and execution = $2", [
		swapId,
		execution,
	]);
}
