import { revokedSharesSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleSwapId } from "./example-swap.ts";

export const deleteShareDoc: RouteDoc = {
	id: "revokeShares",
	summary: "Revoke the links to a swap's page",
	description: "No link to the page of this swap shows anything any more. A new one can be created.",
	params: { swapId: "The id that submit returned." },
	response: revokedSharesSchema,
	errors: ["SWAP_NOT_FOUND"],
	example: { params: { swapId: exampleSwapId }, response: { swapId: exampleSwapId, revoked: 1 } },
};
