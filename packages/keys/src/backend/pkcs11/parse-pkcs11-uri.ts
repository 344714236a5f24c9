import { fileURLToPath } from "node:url";
import { ConfigError } from "../../config/config-error.ts";
import type { KeySettings } from "../../config/key-settings.ts";

/** A key in a token, and how to get to it. */
export type Pkcs11Key = {
	module: string;
	token: string;
	pinFile: string;
	/** The name of the key's objects. */
	label: string;
	/** The id of the objects, if the name is not enough. */
	id?: Uint8Array | undefined;
};

/**
 * Parses the part after `pkcs11:` in a URI (RFC 7512): `token=geoswap;object=relayer-1`, with `id` if names repeat, and
 * with `module-path` and `pin-source` if they differ from the configuration's.
 */
export function parsePkcs11Uri(rest: string, settings: KeySettings["pkcs11"]): Pkcs11Key {
	const reference = `pkcs11:${rest}`;
	const [path = "", query = ""] = rest.split("?");
	const inPath = attributesOf(path, ";");
	const inQuery = attributesOf(query, "&");
	const wrong = (problem: string) =>
		new ConfigError(reference.replace(/pin-value=[^&]*/, "pin-value=…"), problem);
	if (inQuery.has("pin-value"))
		throw wrong("must not contain the PIN: put it into a file and name that in pin-source");
	for (const name of inPath.keys()) {
		if (!["token", "object", "id", "type"].includes(name)) throw wrong(`has ${name}, which is not supported`);
	}
	for (const name of inQuery.keys()) {
		if (!["module-path", "pin-source"].includes(name)) throw wrong(`has ${name}, which is not supported`);
	}
	const token = inPath.get("token")?.toString();
	const label = inPath.get("object")?.toString();
	if (!token || !label) throw wrong("must name a token and an object: pkcs11:token=geoswap;object=relayer-1");
	const module = inQuery.get("module-path")?.toString() ?? settings?.module;
	if (!module) throw wrong("needs keys.pkcs11.module, the path of the device's library");
	const source = inQuery.get("pin-source")?.toString();
	const pinFile = source?.startsWith("file:")
		? fileURLToPath(withSlashes(source))
		: (source ?? settings?.pinFile);
	if (!pinFile) throw wrong("needs keys.pkcs11.pinFile, the path of a file with the PIN");
	const id = inPath.get("id");
	return { module, token, pinFile, label, ...(id && { id: new Uint8Array(id) }) };
}

function withSlashes(source: string): string {
	return source.startsWith("file://") ? source : source.replace(/^file:/, "file://");
}

/** Returns the attributes with their bytes. A value may be any bytes, as percent signs with hex digits. */
function attributesOf(text: string, separator: string): Map<string, Buffer> {
	return new Map(
		text
			.split(separator)
			.filter((part) => part !== "")
			.map((part) => {
				const [name = "", ...value] = part.split("=");
				return [name, bytesOf(value.join("="))];
			}),
	);
}

function bytesOf(text: string): Buffer {
	const parts = text.match(/%[0-9a-fA-F]{2}|[^%]+|%/g) ?? [];
	return Buffer.concat(
		parts.map((part) =>
			/^%[0-9a-fA-F]{2}$/.test(part) ? Buffer.from(part.slice(1), "hex") : Buffer.from(part),
		),
	);
}
