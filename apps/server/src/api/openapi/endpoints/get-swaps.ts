import { swapsQuerySchema, swapsResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleStatus, exampleWallet } from "./example-swap.ts";

export const getSwapsDoc: RouteDoc = {
	id: "listSwaps",
	summary: "List the account's swaps",
	description:
		"All swaps of the key's account, most recently quoted first. Ask again with `nextCursor` until a page has none. A page may have fewer than `limit` swaps, or none, because one call looks back over about half a year; only the last page has no `nextCursor`. Every swap that existed when the first page was requested is listed exactly once, even if others are submitted meanwhile; a newer swap may or may not be listed. With `status`, a page has the swaps that have this status when the page is requested; `wallet`, `from` and `to` narrow it to one wallet and to swaps quoted in a time. A cursor that was altered, or that belongs to another account or to other filters, is `INVALID_REQUEST`. This call is never held: wait for a swap with `GET /swap/status/{swapId}`.",
	query: swapsQuerySchema,
	response: swapsResponseSchema,
	errors: ["INVALID_REQUEST"],
	example: {
		query: { limit: "1", status: "settled", wallet: exampleWallet, from: "2026-06-01T00:00:00.000Z" },
		response: {
			swaps: [exampleStatus],
			nextCursor: "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..c2VhbGVk.Y3Vyc29y",
		},
	},
};
