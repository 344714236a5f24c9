/** An address as it may be shown: endpoints often hold a key, so of all but a bare one only the host is left. */
export function maskUrl(text: string): string {
	if (!URL.canParse(text)) return "***";
	const url = new URL(text);
	const isBare = (url.pathname === "/" || url.pathname === "") && url.search === "" && url.hash === "";
	const credentials = url.username || url.password ? "***@" : "";
	return `${url.protocol}//${credentials}${url.host}${isBare ? "" : "/***"}`;
}

/** A text with every address in it masked. */
export function maskUrls(text: string): string {
	return text.replaceAll(/[a-z][a-z0-9+.-]*:\/\/[^\s"'`<>]+/gi, maskUrl);
}
