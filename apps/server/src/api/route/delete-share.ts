import { type RevokedShares, revokedSharesSchema, toSwapId } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import type { Route } from "../http/route.ts";
import { exampleSwapId } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { deleteShares } from "../share/shares.ts";
import { readOwnSwapId } from "./post-share.ts";

/** DELETE /swaps/{swapId}/share: disables all links to the swap's page. */
export function deleteShare({ db }: { db: Database }): Route {
	return {
		method: "DELETE",
		path: "/swaps/:swapId/share",
		operation: "list",
		doc: deleteShareDoc,
		async handle(request): Promise<RevokedShares> {
			const swapId = await readOwnSwapId(db, request);
			return { swapId: toSwapId(swapId), revoked: await deleteShares(db, swapId) };
		},
	};
}

const deleteShareDoc: RouteDoc = {
	id: "revokeShares",
	summary: "Revoke the links to a swap's page",
	description: "No link to the page of this swap shows anything any more. A new one can be created.",
	params: { swapId: "The id that submit returned." },
	response: revokedSharesSchema,
	errors: ["SWAP_NOT_FOUND"],
	example: { params: { swapId: exampleSwapId }, response: { swapId: exampleSwapId, revoked: 1 } },
};
