import type { Database } from "../../database/database.ts";
import type { Route } from "../http/route.ts";
import { getShareReceiptDoc } from "../openapi/endpoints/get-share-receipt.ts";
import { readSharedSwap } from "../share/shares.ts";
import type { Receipts } from "../status/create-receipts.ts";

/** GET /s/{share}/receipt: the swap's signed receipt, for whoever has the link. */
export function getShareReceipt({ db, receipts }: { db: Database; receipts: Pick<Receipts, "of"> }): Route {
	return {
		method: "GET",
		path: "/s/:share/receipt",
		operation: undefined,
		limitedAs: "share",
		doc: getShareReceiptDoc,
		headers: { "cache-control": "no-store", "x-robots-tag": "noindex" },
		handle: async ({ params }) => receipts.of(await readSharedSwap(db, params.share ?? "")),
	};
}
