/**
 * The URL as it is routed: without doubled and trailing slashes, and without the host that callers behind a proxy name. A
 * path that cannot be decoded is taken literally, so that it is answered like any other that does not exist.
 */
export function cleanUrl(url: string): string {
	if (cleanAlready.test(url)) return url;
	const target = url.replace(/^https?:\/\/[^/?]*/i, "");
	const end = target.indexOf("?");
	const path = `/${end === -1 ? target : target.slice(0, end)}`;
	const search = end === -1 ? "" : target.slice(end);
	const clean = path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
	return (isDecodable(clean) ? clean : clean.replaceAll("%", "%25")) + search;
}

/** Nothing to decode, and no slash too many, as almost all are. */
const cleanAlready = /^(?:\/[\w.-]+)+(?:\?|$)/;

function isDecodable(path: string): boolean {
	try {
		decodeURIComponent(path);
		return true;
	} catch {
		return false;
	}
}
