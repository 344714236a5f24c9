import { submitRequestSchema, submitResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleOpToken, exampleSignature, exampleSwapId } from "./example-swap.ts";

export const postSubmitDoc: RouteDoc = {
	id: "submit",
	summary: "Submit a swap from an EVM chain",
	description: `Takes the signature and starts the swap. The price is checked once more and the output reserved.

**Once per quote.** All op tokens of one quote lead to one swap. Sending the same request again, at any time, returns that swap
with its current status, so a retry is always safe. After a timeout or a 5xx, send the **same body** again; a new quote would
start a second swap. A 4xx means that this call started no swap.

Only the op's \`expiresAt\` counts: the quote may have expired meanwhile.

**Next:** [poll the status](#getStatus) until it is terminal.`,
	body: submitRequestSchema,
	response: submitResponseSchema,
	errors: [
		...(["INVALID_SIGNATURE", "INVALID_TOKEN", "OP_EXPIRED", "UNSUPPORTED_DELEGATION"] as const),
		...(["NEEDS_DELEGATION", "INVALID_AUTHORIZATION", "INSUFFICIENT_BALANCE"] as const),
		...(["SIMULATION_FAILED", "LIQUIDITY_CHANGED", "NO_ROUTE"] as const),
		...(["INVALID_MANDATE", "MANDATE_ENDED", "OUTSIDE_MANDATE", "MANDATE_EXCEEDED"] as const),
	],
	example: {
		body: { geoOpToken: exampleOpToken, signature: exampleSignature },
		response: { swapId: exampleSwapId, status: "pending" },
	},
};
