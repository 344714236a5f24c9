import ipaddr from "ipaddr.js";

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
