import * as z from "zod";
import { interfaceVersion } from "../interface-version.ts";
import type { RouteDoc } from "../route-doc.ts";

export const getOpenapiDoc: RouteDoc = {
	id: "getOpenapi",
	summary: "This interface, for a machine",
	description: "The OpenAPI 3.1 document that clients and tests can be generated from.",
	response: z.looseObject({
		openapi: z.string().describe("The version of OpenAPI."),
		info: z
			.looseObject({
				title: z.string().describe("The interface's name."),
				version: z.string().describe("The interface's version."),
			})
			.describe("About the interface."),
		paths: z.looseObject({}).describe("Every endpoint, by path."),
	}),
	errors: [],
	example: {
		response: { openapi: "3.1.0", info: { title: "Geoswap", version: interfaceVersion }, paths: {} },
	},
};
