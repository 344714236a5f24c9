import { pino } from "pino";
import { routesWithoutParts } from "./routes-without-parts.ts";

/** Returns the text that GET /openapi.json serves. */
export async function openapiText(): Promise<string> {
	const route = routesWithoutParts().find(({ path }) => path === "/openapi.json");
	if (route?.operation !== undefined || !route) throw new Error("there is no /openapi.json without a key");
	const log = pino({ level: "silent" });
	const request = { body: undefined, query: {}, params: {}, requestId: "", log, onGone: () => {} };
	return String(await route.handle(request));
}
