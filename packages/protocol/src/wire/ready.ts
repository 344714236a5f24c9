import * as z from "zod";

/** GET /ready of a process that should get requests. */
export const readyResponseSchema = z.object({
	status: z.enum(["ready", "degraded"]).describe("`ready` if every check passes, otherwise `degraded`."),
	checks: z
		.array(
			z.object({
				name: z.string().describe("The part that was checked."),
				ready: z.boolean().describe("Whether the part works."),
				problem: z.string().optional().describe("What is wrong. Present if the part does not work."),
			}),
		)
		.describe("Every part that this process needs."),
});
export type ReadyResponse = z.infer<typeof readyResponseSchema>;
