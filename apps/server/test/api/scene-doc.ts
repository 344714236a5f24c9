import * as z from "zod";
import type { RouteDoc } from "../../src/api/openapi/route-doc.ts";

/** For a route of a test, which nobody reads about. */
export const sceneDoc: RouteDoc = {
	id: "scene",
	summary: "",
	description: "",
	response: z.unknown(),
	errors: [],
	example: { response: {} },
};
