import { isIP } from "node:net";

/**
 * Returns the network that counts as one caller, however its address is written. The owner of one IPv6 address has 2^64
 * of them; a text from a proxy that is not an address identifies nobody.
 */
export function networkOf(text: string): string {
	const address = withoutPort(text);
	const kind = isIP(address);
	if (kind === 4) return address;
	if (kind !== 6) return "none";
	const groups = groupsOf(address);
	if (groups.slice(0, 6).join() === "0,0,0,0,0,65535") {
		return groups
			.slice(6)
			.flatMap((group) => [group >> 8, group & 0xff])
			.join(".");
	}
	return groups
		.slice(0, 4)
		.map((group) => group.toString(16))
		.join(":");
}

/** Removes the port: some proxies pass on `1.2.3.4:55` and `[2001:db8::1]:55`. */
function withoutPort(text: string): string {
	// No address with its port is longer, and the sender may send anything.
	if (text.length > 64) return "";
	return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/** Returns the eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
	const [head = [], tail] = address
		.replace(/%.*$/, "")
		.split("::")
		.map((part) => part.split(":").filter(Boolean).flatMap(numbersOf));
	if (!tail) return head;
	return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function numbersOf(group: string): number[] {
	if (!group.includes(".")) return [Number.parseInt(group, 16)];
	const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
	return [a * 256 + b, c * 256 + d];
}
