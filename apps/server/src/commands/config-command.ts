import { readConfig } from "../config.ts";

/** Prints what a configuration file comes to. Endpoints often hold a key: only their hosts are shown. */
export function configCommand(path: string): void {
	console.log(
		JSON.stringify(
			readConfig(path),
			(key, value: unknown) => (/url$/i.test(key) && typeof value === "string" ? maskUrl(value) : value),
			"\t",
		),
	);
}

function maskUrl(text: string): string {
	const url = new URL(text);
	const isBare = url.pathname === "/" && url.search === "" && url.hash === "";
	const credentials = url.username || url.password ? "***@" : "";
	return `${url.protocol}//${credentials}${url.host}${isBare ? "" : "/***"}`;
}
