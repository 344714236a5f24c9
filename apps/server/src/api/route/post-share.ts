import {
	fromSwapId,
	type ShareResponse,
	SwapError,
	type SwapUuid,
	shareResponseSchema,
	toSwapId,
} from "@geoswap/protocol";
import * as z from "zod";
import type { Database, DatabasePool } from "../../database/database.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import type { Route, RouteRequest } from "../http/route.ts";
import { exampleShare, exampleSwapId } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { newShareToken } from "../share/share-token.ts";
import { insertShare } from "../share/shares.ts";

/** POST /swaps/{swapId}/share: a link to the swap's public page. */
export function postShare({
	db,
	publicUrl,
	random,
}: {
	db: DatabasePool;
	/** The address in links. Undefined if links use the address that the caller used. */
	publicUrl: string | undefined;
	random: (bytes: number) => Uint8Array;
}): Route {
	return {
		method: "POST",
		path: "/swaps/:swapId/share",
		operation: "list",
		doc: postShareDoc,
		async handle(request): Promise<ShareResponse> {
			const swapId = await readOwnSwapId(db, request);
			const token = newShareToken(random);
			const base = publicUrl ?? request.origin;
			if (base === undefined) {
				const message = "is missing: name the host by which you reach the service";
				throw new SwapError("INVALID_REQUEST", { issues: [{ path: "host", message }] });
			}
			await insertShare(db, { token, swapId });
			return { swapId: toSwapId(swapId), url: new URL(`/s/${token}`, base).href, token };
		},
	};
}

/** Returns the id in the path. Throws if it is not a swap of the caller's account. */
export async function readOwnSwapId(
	db: Database,
	{ params, account: { accountId } }: Pick<RouteRequest, "params" | "account">,
): Promise<SwapUuid> {
	const uuid = fromSwapId(params.swapId ?? "");
	const swap = uuid && (await readSwap(db, uuid));
	if (swap?.accountId !== accountId) throw new SwapError("SWAP_NOT_FOUND", undefined);
	return swap.id;
}

const postShareDoc: RouteDoc = {
	id: "shareSwap",
	summary: "Create a link to a page of a swap",
	description: `Returns the address of a page for people: it shows what is happening with the money, live, and what was proved. Whoever has the
address sees the page, without a key. Each call makes another link, because the service stores only a hash of it. A swap can have
20 links; one more replaces the oldest. \`DELETE /swaps/{swapId}/share\` revokes them. The body is an empty object.`,
	params: { swapId: "The id that submit returned." },
	body: z.object({}),
	response: shareResponseSchema,
	errors: ["SWAP_NOT_FOUND"],
	example: {
		params: { swapId: exampleSwapId },
		body: {},
		response: {
			swapId: exampleSwapId,
			url: `https://swaps.example/s/${exampleShare}`,
			token: exampleShare,
		},
	},
};
