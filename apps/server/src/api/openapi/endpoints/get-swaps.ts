import { swapsQuerySchema, swapsResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleStatus } from "./example-swap.ts";

export const getSwapsDoc: RouteDoc = {
	id: "listSwaps",
	summary: "The account's own swaps",
	description:
		"All swaps of the key's account, newest first by when they were quoted. Ask again with `nextCursor` until there is none: a page may hold fewer than `limit`, or none at all, where there is little in the half year or so that one call looks back over; the last one has no `nextCursor`. However many swaps are submitted meanwhile, each one that existed when the first page was asked for comes once; a newer one may come or not. With `status` a page has the swaps that have it when that page is asked for. A cursor that was altered, or is of another account or another `status`, is `INVALID_REQUEST`. This call is never held: wait for a swap with `GET /swap/status/{swapId}`.",
	query: swapsQuerySchema,
	response: swapsResponseSchema,
	errors: ["INVALID_REQUEST"],
	example: {
		query: { limit: "1", status: "settled" },
		response: {
			swaps: [{ ...exampleStatus, createdAt: "2026-06-01T12:00:03.120Z" }],
			nextCursor: "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..c2VhbGVk.Y3Vyc29y",
		},
	},
};
