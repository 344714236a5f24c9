import { fromSwapId, receiptResponseSchema, SwapError, type SwapReceipt } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import type { Route } from "../http/route.ts";
import { exampleGeoOp, exampleStatus, exampleSwapId } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
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

export const getReceiptDoc: RouteDoc = {
	id: "getReceipt",
	summary: "Get the signed receipt of a swap",
	description: `Returns a statement of what was promised and what was delivered or refunded, with the transactions that show it, signed
by a key whose address is in the deployment file. Only a swap that is \`settled\`, \`refunded\` or \`failed\` has a receipt. Anyone can
check it without this service: \`geoswap verify-receipt\`, or \`verifyReceipt\` of \`@geoswap/sdk/receipt\`, compares it with the chains.
If a chain drops a delivery and the service delivers again, ask again: the receipt then names the new transaction.`,
	params: { swapId: "The id that submit returned." },
	response: receiptResponseSchema,
	errors: ["SWAP_NOT_FOUND", "RECEIPTS_NOT_OFFERED", "SWAP_NOT_ENDED"],
	example: {
		params: { swapId: exampleSwapId },
		response: {
			swapId: exampleSwapId,
			status: "settled",
			orderId: exampleGeoOp.orderId,
			order: exampleGeoOp.order,
			terms: exampleStatus.terms,
			deliveredAmount: exampleStatus.deliveredAmount,
			originTxHash: exampleStatus.originTxHash,
			deliveryTxHash: exampleStatus.deliveryTxHash,
			quotedAt: exampleStatus.quotedAt,
			createdAt: exampleStatus.createdAt,
			endedAt: exampleStatus.endedAt,
			signer: "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
			signature:
				"0x0bd61d5a7395a36d14ef4ff1a9dbd106e45227cd436e1cb1710842680227a02e422b498620aa660e697e9505441d646917d16714a1230557fbc255592687d4c81b",
		},
	},
};
