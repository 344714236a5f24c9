import * as z from "zod";
import type { SwapReport } from "./swap-runner.ts";
import { dataText, errorSchema, resultSchema, units } from "./tool-result.ts";

export const fundsSchema = z.object({
	chainId: z.int(),
	holder: z.enum(["wallet", "escrow", "recipient"]),
	token: dataText,
	amount: units,
});

const statuses = ["submitted", "settled", "refunded", "failed", "unknown", "not_swapped"] as const;

export const swapResultSchema = resultSchema({
	id: z.string().optional().describe("The id that the swap was requested with."),
	swapId: z.string().optional().describe("The service's id of the swap, for get_swap."),
	status: z
		.enum(statuses)
		.describe(
			"settled: delivered. refunded, failed: the whole input is back. submitted: under way. unknown: it may execute. not_swapped: nothing was taken, and nothing will be. id_used: the id belongs to a swap with other terms, and nothing was done for this call.",
		),
	stage: dataText.optional(),
	mayExecute: z
		.boolean()
		.describe("True if it may still execute. Start no other swap for the same purpose then."),
	advice: z.string(),
	funds: fundsSchema.optional(),
	failure: dataText.optional(),
	error: errorSchema.optional(),
});

const advice = {
	submitted: "The swap is under way. Follow it with get_swap, and never start another for the same purpose.",
	settled: "The recipient has the output. There is nothing left to do.",
	refunded: "The whole input is back in the wallet. Swap again only if the user wants it, with a new id.",
	failed: "Nothing was taken. Swap again only if the user wants it, with a new id.",
	unknown: "This swap may still execute. Follow it with get_swap, and never start another.",
	not_swapped: "Nothing was taken, and nothing will be. See the error, if there is one.",
} satisfies Record<(typeof statuses)[number], string>;

/** Returns the report as the fields of a result. */
export function swapDocument(
	id: string | undefined,
	report: SwapReport & { stage?: string; failure?: string },
) {
	const { status } = report;
	return {
		...(id !== undefined && { id }),
		...report,
		mayExecute: status === "submitted" || status === "unknown",
		advice: advice[status],
	};
}
