import { receiptResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleShare } from "./example-share.ts";
import { getReceiptDoc } from "./get-receipt.ts";
import { shareParams } from "./get-share-page.ts";

export const getShareReceiptDoc: RouteDoc = {
	id: "getShareReceipt",
	summary: "Get the signed receipt of a shared swap",
	description: "The same receipt as `GET /swaps/{swapId}/receipt` returns, for whoever has the link.",
	params: shareParams,
	response: receiptResponseSchema,
	errors: ["NOT_FOUND", "RECEIPTS_NOT_OFFERED", "SWAP_NOT_ENDED", "UPSTREAM_UNAVAILABLE"],
	example: { params: { share: exampleShare }, response: getReceiptDoc.example.response },
};
