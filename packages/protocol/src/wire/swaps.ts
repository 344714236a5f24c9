import * as z from "zod";
import { swapStatuses } from "../swap-status.ts";
import { timeSchema } from "./fields.ts";
import { statusResponseSchema } from "./status.ts";

/** GET /swaps?limit=&cursor=&status=. */
export const swapsQuerySchema = z.strictObject({
	limit: z
		.string()
		.regex(/^([1-9]\d?|100)$/, "must be a whole number, 1 to 100")
		.meta({ type: "integer", minimum: 1, maximum: 100 })
		.transform(Number)
		.optional()
		.describe("Maximum number of swaps on a page, 1 to 100. The default is 20. A page may have fewer."),
	cursor: z
		.string()
		.min(1)
		.optional()
		.describe("`nextCursor` of the previous page. Send it with the same `status`."),
	status: z.enum(swapStatuses).optional().describe("Returns only swaps that have this status now."),
});

const listedSwapSchema = statusResponseSchema.omit({ held: true }).extend({
	createdAt: timeSchema.describe("When the swap was submitted."),
});

export const swapsResponseSchema = z.object({
	swaps: z
		.array(listedSwapSchema)
		.describe(
			"The swaps, most recently quoted first. A page may have fewer than `limit` swaps, or none, without being the last one.",
		),
	nextCursor: z.string().optional().describe("Cursor of the next page. Absent on the last page."),
});
export type SwapsResponse = z.infer<typeof swapsResponseSchema>;
