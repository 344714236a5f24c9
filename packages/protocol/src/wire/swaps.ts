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
		.describe("How many swaps a page has at most, 1 to 100. 20 unless given. It may have fewer."),
	cursor: z
		.string()
		.min(1)
		.optional()
		.describe("`nextCursor` of the page before. Only with the same `status`."),
	status: z.enum(swapStatuses).optional().describe("Only swaps that have this status now."),
});

const listedSwapSchema = statusResponseSchema.omit({ held: true }).extend({
	createdAt: timeSchema.describe("When it was submitted."),
});

export const swapsResponseSchema = z.object({
	swaps: z
		.array(listedSwapSchema)
		.describe(
			"Newest first, by when they were quoted. A page may hold fewer than `limit`, or none, and not be the last one.",
		),
	nextCursor: z.string().optional().describe("For the next page. The last one has none."),
});
export type SwapsResponse = z.infer<typeof swapsResponseSchema>;
