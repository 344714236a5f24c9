/** Returns an address with all but the host masked, because endpoints often contain a key. */
export function maskUrl(text: string): string {
	if (!URL.canParse(text)) return "***";
	const url = new URL(text);
	const isBare = (url.pathname === "/" || url.pathname === "") && url.search === "" && url.hash === "";
	const credentials = url.username || url.password ? "***@" : "";
	return `${url.protocol}//${credentials}${url.host}${isBare ? "" : "/***"}`;
}

/** Masks every address in a text. */
export function maskUrls(text: string): string {
	return text.replaceAll(/[a-z][a-z0-9+.-]*:\/\/[^\s"'`<>]+/gi, maskUrl);
}
