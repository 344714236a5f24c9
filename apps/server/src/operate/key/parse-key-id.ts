import { findApiKeysIn } from "../../api/key/api-key.ts";
import { ConfigError } from "../../config/config-error.ts";

/** Returns a key's id. Also accepts the whole key, since a leaked key may be all that the operator has. */
export function parseKeyId(text: string): string {
	const id = findApiKeysIn(text)[0]?.id ?? text;
	// The input is not quoted, because it may be most of a key.
	if (!/^[0-9a-hjkmnp-tv-z]{12}$/.test(id)) {
		throw new ConfigError(
			"the key's id",
			"must be the 12 letters and digits between the underscores of a key: see geoswapd keys list",
		);
	}
	return id;
}
