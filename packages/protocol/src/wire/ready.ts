import * as z from "zod";

/** GET /ready of a process that should get requests. */
export const readyResponseSchema = z.object({
	status: z.enum(["ready", "degraded"]).describe("`ready` where every check passes."),
	checks: z
		.array(
			z.object({
				name: z.string().describe("The part that was looked at."),
				ready: z.boolean().describe("Whether it works."),
				problem: z.string().optional().describe("What is wrong, where it is not ready."),
			}),
		)
		.describe("Every part that this process needs."),
});
export type ReadyResponse = z.infer<typeof readyResponseSchema>;
