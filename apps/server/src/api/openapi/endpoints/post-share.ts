import { shareResponseSchema } from "@geoswap/protocol";
import * as z from "zod";
import type { RouteDoc } from "../route-doc.ts";
import { exampleShare } from "./example-share.ts";
import { exampleSwapId } from "./example-swap.ts";

export const postShareDoc: RouteDoc = {
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
