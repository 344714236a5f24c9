import { type RevokedShares, toSwapId } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import type { Route } from "../http/route.ts";
import { deleteShareDoc } from "../openapi/endpoints/delete-share.ts";
import { deleteShares } from "../share/shares.ts";
import { readOwnSwapId } from "./post-share.ts";

/** DELETE /swaps/{swapId}/share: no link to the swap's page works any more. */
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
