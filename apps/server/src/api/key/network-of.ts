import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Returns the network of an address in any spelling. By default it is the network that counts as one caller, since
 * the owner of one IPv6 address has 2^64 of them. A text from a proxy that is not an address gives "none".
 */
export function networkOf(text: string, { ipv4Bits = 32, ipv6Bits = 64 } = {}): string {
	const address = withoutPort(text).replace(/%.*$/, "");
	if (!isIP(address)) return "none";
	const parsed = ipaddr.process(address);
	return parsed.kind() === "ipv4"
		? ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/${ipv4Bits}`).toString()
		: ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${ipv6Bits}`).toString();
}

/** Removes the port, because some proxies pass on `1.2.3.4:55` and `[2001:db8::1]:55`. */
function withoutPort(text: string): string {
	// No address with its port is longer, and the header may contain anything.
	if (text.length > 64) return "";
	return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}
