import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

const maxLength = 2_048;

/** Returns what is wrong with a webhook's URL, or undefined if nothing is. Names are resolved only at delivery. */
export function webhookUrlProblem(text: string, { isDevnet }: { isDevnet: boolean }): string | undefined {
	if (text.length > maxLength) return `must have at most ${maxLength} characters`;
	if (!URL.canParse(text)) return "must be a URL, as in https://example.com/geoswap";
	const url = new URL(text);
	if (url.protocol !== "https:" && !(isDevnet && url.protocol === "http:")) return "must begin with https://";
	if (url.username !== "" || url.password !== "") return "must have no user or password";
	if (url.hash !== "") return "must have no part after #";
	if (!isDevnet && isPrivateHost(url)) return "must have a host that is reachable from the internet";
	return undefined;
}

/** Returns whether the host is an address, or a name, that is known not to be public. */
export function isPrivateHost({ hostname }: URL): boolean {
	const host = hostname.replace(/^\[(.*)\]$/, "$1");
	if (isIP(host) !== 0) return !isPublicAddress(host);
	return host === "localhost" || host.endsWith(".localhost");
}

/**
 * Returns whether an IP address is public, so that any host on the internet can have it. An IPv6 address that
 * contains an IPv4 address counts as the latter. All ranges that the registries reserve are not public.
 */
export function isPublicAddress(address: string): boolean {
	if (!ipaddr.isValid(address)) return false;
	const parsed = ipaddr.process(address);
	return parsed.range() === "unicast" && (parsed.kind() === "ipv4" || isGlobal(parsed as ipaddr.IPv6));
}

/** Only 2000::/3 is allocated. */
function isGlobal(address: ipaddr.IPv6): boolean {
	return address.match(ipaddr.IPv6.parse("2000::"), 3);
}
