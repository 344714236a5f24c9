import * as z from "zod";
import type { RouteDoc } from "../../src/api/openapi/route-doc.ts";

/** Documentation of a test's route, which is unused. */
export const sceneDoc: RouteDoc = {
	id: "scene",
	summary: "",
	description: "",
	response: z.unknown(),
	errors: [],
	example: { response: {} },
};
