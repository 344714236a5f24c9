import * as z from "zod";
import type { RouteDoc } from "../route-doc.ts";

export const getHealthDoc: RouteDoc = {
	id: "getHealth",
	summary: "Whether the process answers",
	description: `For a supervisor that restarts processes. The answer does not depend on other services, since a restart would not fix
those: see [ready](#getReady).`,
	response: z.object({ status: z.literal("ok").describe("The process answers.") }),
	errors: [],
	example: { response: { status: "ok" } },
};
