import * as z from "zod";
import { swapStatuses } from "../swap-status.ts";
import { filteredTimeSchema } from "./fields.ts";
import { statusResponseSchema } from "./status.ts";

/** GET /swaps?limit=&cursor=&status=&wallet=&from=&to=. */
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
		.describe("`nextCursor` of the previous page. Send it with the same filters."),
	status: z.enum(swapStatuses).optional().describe("Returns only swaps that have this status now."),
	wallet: z
		.string()
		.min(1)
		.optional()
		.describe("Returns only swaps of this origin wallet: an EVM address on any chain, or a Solana address."),
	from: filteredTimeSchema
		.optional()
		.describe(
			"Returns only swaps quoted at this time or later: ISO 8601 with a time zone, as in 2026-06-01T12:00:00Z.",
		),
	to: filteredTimeSchema.optional().describe("Returns only swaps quoted before this time."),
});

const listedSwapSchema = statusResponseSchema.omit({ held: true });

export const swapsResponseSchema = z.object({
	swaps: z
		.array(listedSwapSchema)
		.describe(
			"The swaps, most recently quoted first. A page may have fewer than `limit` swaps, or none, without being the last one.",
		),
	nextCursor: z.string().optional().describe("Cursor of the next page. Absent on the last page."),
});
export type SwapsResponse = z.infer<typeof swapsResponseSchema>;
