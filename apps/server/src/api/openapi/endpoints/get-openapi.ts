import * as z from "zod";
import { interfaceVersion } from "../interface-version.ts";
import type { RouteDoc } from "../route-doc.ts";

export const getOpenapiDoc: RouteDoc = {
	id: "getOpenapi",
	summary: "This interface, for programs",
	description: "The OpenAPI 3.1 document, from which clients and tests can be generated.",
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
