import { receiptResponseSchema } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import type { Route } from "../http/route.ts";
import { exampleShare } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { readSharedSwap } from "../share/shares.ts";
import type { Receipts } from "../status/create-receipts.ts";
import { getReceiptDoc } from "./get-receipt.ts";
import { shareParams } from "./get-share-page.ts";

/** GET /s/{share}/receipt: the swap's signed receipt, for anyone with the link. */
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

const getShareReceiptDoc: RouteDoc = {
	id: "getShareReceipt",
	summary: "Get the signed receipt of a shared swap",
	description: "The same receipt as `GET /swaps/{swapId}/receipt` returns, for whoever has the link.",
	params: shareParams,
	response: receiptResponseSchema,
	errors: ["NOT_FOUND", "RECEIPTS_NOT_OFFERED", "SWAP_NOT_ENDED", "UPSTREAM_UNAVAILABLE"],
	example: { params: { share: exampleShare }, response: getReceiptDoc.example.response },
};
