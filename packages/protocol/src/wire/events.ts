import * as z from "zod";
import type { SwapStatus } from "../swap-status.ts";
import { openEnum, timeSchema } from "./fields.ts";
import { statusResponseSchema } from "./status.ts";

/** The types of events: one per status. */
const swapEventTypes = ["swap.pending", "swap.settled", "swap.failed", "swap.refunded"] as const satisfies [
	...`swap.${SwapStatus}`[],
];

/** An event of a swap: the data of a server-sent event, and the body of a webhook. */
export const swapEventSchema = z.object({
	id: z
		.string()
		.describe(
			"The event's id. It is the same each time the event is sent, in every stream and webhook: ignore ids that you have handled.",
		),
	type: openEnum(swapEventTypes).describe("`swap.` and the swap's status."),
	timestamp: timeSchema.describe("When the swap changed."),
	data: statusResponseSchema
		.omit({ held: true })
		.describe("The swap as the change left it, as `GET /swap/status/{swapId}` returns it."),
});
export type SwapEventBody = z.infer<typeof swapEventSchema>;
