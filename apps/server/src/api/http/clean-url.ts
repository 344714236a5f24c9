/**
 * Returns the URL to route: without doubled and trailing slashes, and without the host that callers behind a proxy
 * include. A path that cannot be decoded is taken literally, so it is answered like any other unknown path.
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

/** Matches a URL with nothing to decode and no redundant slash, as almost all are. */
const cleanAlready = /^(?:\/[\w.-]+)+(?:\?|$)/;

function isDecodable(path: string): boolean {
	try {
		decodeURIComponent(path);
		return true;
	} catch {
		return false;
	}
}
