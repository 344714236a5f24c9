import ipaddr from "ipaddr.js";

/**
 * Returns whether an IP address is one that anybody on the internet can have. An IPv6 address that contains an IPv4
 * address counts as that one. All ranges that the registries set aside are not public.
 */
export function isPublicAddress(address: string): boolean {
	if (!ipaddr.isValid(address)) return false;
	const parsed = ipaddr.process(address);
	return parsed.range() === "unicast" && (parsed.kind() === "ipv4" || isGlobal(parsed as ipaddr.IPv6));
}

/** Only 2000::/3 is given out. */
function isGlobal(address: ipaddr.IPv6): boolean {
	return address.match(ipaddr.IPv6.parse("2000::"), 3);
}
