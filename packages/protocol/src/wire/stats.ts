import * as z from "zod";
import { timeSchema } from "./fields.ts";

const seconds = (share: string) =>
	z.number().describe(`${share} of the swaps took at most this many seconds.`);
const bps = (share: string) =>
	z
		.number()
		.describe(`${share} of the swaps delivered at least this much, in basis points of the quoted output.`);

/** GET /stats. */
export const statsResponseSchema = z.object({
	computedAt: timeSchema.describe(
		"When the figures were computed. They are computed at most every few minutes.",
	),
	days: z.int().describe("The number of days that the figures cover."),
	minSwaps: z
		.int()
		.describe("Routes with fewer settled swaps are left out, so that no single swap can be recognized."),
	routes: z
		.array(
			z.object({
				originChain: z.int().describe("The chain that swaps came from."),
				destinationChain: z.int().describe("The chain that swaps went to."),
				swaps: z
					.int()
					.describe("The number of settled swaps that the figures are about, rounded down to hundreds."),
				secondsToSettled: z
					.object({ p50: seconds("Half"), p90: seconds("90%"), p95: seconds("95%") })
					.describe("The time from submit to `settled`, in seconds."),
				deliveredBps: z
					.object({ p50: bps("Half"), p90: bps("90%"), p95: bps("95%") })
					.describe(
						"What was delivered, compared with the quoted `output`: 10000 is exactly the quoted output.",
					),
			}),
		)
		.describe("The routes, by their chains."),
});
export type StatsResponse = z.infer<typeof statsResponseSchema>;
