import { statusQuerySchema, statusResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleStatus, exampleSwapId } from "./example-swap.ts";

export const getStatusDoc: RouteDoc = {
	id: "getStatus",
	summary: "Follow a swap",
	description: `Returns how far the swap is, and where the money is. The call is held until the status is terminal or \`wait\` seconds
have passed; then it answers with the latest known state. Ask again as soon as it answers: there is no need to sleep in between.

| \`status\` | means |
|---|---|
| \`pending\` | the swap is under way |
| \`settled\` | the recipient has what was promised |
| \`failed\` | nothing was taken, and nothing can be |
| \`refunded\` | the whole input is back in the wallet, same token, same amount |

A terminal status never changes. A key can hold only a limited number of calls at once. A call above the limit is answered at
once, with \`held: false\` and the header \`Retry-After: 1\`: wait that many seconds before you ask again.`,
	params: { swapId: "The id that submit returned." },
	query: statusQuerySchema,
	response: statusResponseSchema,
	mayAskToWait: true,
	errors: ["SWAP_NOT_FOUND"],
	example: {
		params: { swapId: exampleSwapId },
		query: { wait: "15" },
		response: exampleStatus,
	},
};
