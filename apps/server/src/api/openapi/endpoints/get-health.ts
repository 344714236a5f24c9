import * as z from "zod";
import type { RouteDoc } from "../route-doc.ts";

export const getHealthDoc: RouteDoc = {
	id: "getHealth",
	summary: "Whether the process answers",
	description: `For whoever restarts processes. It says nothing of what the process depends on: restarting would not mend
that. See [ready](#getReady).`,
	response: z.object({ status: z.literal("ok").describe("The process answers.") }),
	errors: [],
	example: { response: { status: "ok" } },
};
