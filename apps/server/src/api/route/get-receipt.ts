import { fromSwapId, SwapError, type SwapReceipt } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import type { Route } from "../http/route.ts";
import { getReceiptDoc } from "../openapi/endpoints/get-receipt.ts";
import type { Receipts } from "../status/create-receipts.ts";

/** GET /swaps/{swapId}/receipt: a signed statement of what was promised and delivered. Only ended swaps have one. */
export function getReceipt({ db, receipts }: { db: Database; receipts: Pick<Receipts, "of"> }): Route {
	return {
		method: "GET",
		path: "/swaps/:swapId/receipt",
		operation: "status",
		doc: getReceiptDoc,
		async handle({ params, account: { accountId } }): Promise<SwapReceipt> {
			const uuid = fromSwapId(params.swapId ?? "");
			const swap = uuid && (await readSwap(db, uuid));
			if (!swap || swap.accountId !== accountId) throw new SwapError("SWAP_NOT_FOUND", undefined);
			return receipts.of(swap);
		},
	};
}
