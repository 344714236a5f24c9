import { ConfigError } from "../../config/config-error.ts";

/** Throws if the text is not the id of a chain. */
export function parseChainId(text: string): number {
	if (!/^[1-9]\d{0,14}$/.test(text)) throw new ConfigError("<chainId>", `${text} is not the id of a chain`);
	return Number(text);
}
