import { ConfigError } from "../../config/config-error.ts";

/** Returns the id of a row of a declaration or a move. Throws if the text is no such id. */
export function expectMoveId(text: string): string {
	if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text;
	throw new ConfigError("<id>", `${text} is not the id of a move; list them with: geoswapd treasury moves`);
}
