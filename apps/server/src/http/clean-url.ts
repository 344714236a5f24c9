/**
 * The URL as it is routed: without doubled and trailing slashes. A path that cannot be decoded is taken literally, so
 * that it is answered like any other that does not exist.
 */
export function cleanUrl(url: string): string {
	const end = url.indexOf("?");
	const path = end === -1 ? url : url.slice(0, end);
	const search = end === -1 ? "" : url.slice(end);
	const clean = path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
	return (isDecodable(clean) ? clean : clean.replaceAll("%", "%25")) + search;
}

function isDecodable(path: string): boolean {
	try {
		decodeURIComponent(path);
		return true;
	} catch {
		return false;
	}
}
