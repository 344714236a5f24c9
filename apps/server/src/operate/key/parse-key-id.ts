import { findApiKeysIn } from "../../api/key/api-key.ts";
import { ConfigError } from "../../config/config-error.ts";

/** A key's id. Whoever has only the key, because it leaked, may give that. */
export function parseKeyId(text: string): string {
	const id = findApiKeysIn(text)[0]?.id ?? text;
	// What was given is not repeated: it may be most of a key.
	if (!/^[0-9a-hjkmnp-tv-z]{12}$/.test(id)) {
		throw new ConfigError(
			"the key's id",
			"is the 12 letters and digits between the underscores of a key: see geoswapd keys list",
		);
	}
	return id;
}
