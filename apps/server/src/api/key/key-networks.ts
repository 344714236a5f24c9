import { isIP } from "node:net";
import type { Milliseconds } from "@geoswap/protocol";
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

/** Time for which a use of a key counts. */
const windowMs = 3_600_000;
/** A key that is used from more networks than this is logged. One agent, its replicas and a developer use fewer. */
const many = 5;
/** The size of a network whose addresses count as one. */
const sameOwner = { ipv4Bits: 24, ipv6Bits: 48 };
/** The maximum number of networks per key, and of keys, so that a flood does not fill the memory. */
const maxNetworks = 256;
const maxKeys = 10_000;

export type KeyNetworks = {
	/** Notes that a valid key was used from an address. */
	used: (keyId: string, address: string) => void;
	/** Returns the number of networks from which the most widely used key was used within the last hour. */
	most: () => number;
};

/**
 * Counts from how many networks each API key is used, because a leaked key is used from places that its owner never
 * uses. Addresses of one network (a /24, in IPv6 a /48) count once, since hosts of one owner are often in one.
 */
export function createKeyNetworks({
	nowMs,
	onMany,
}: {
	nowMs: () => Milliseconds;
	/** Called when a key was used from many networks, and again when from more than twice as many. */
	onMany: (found: { keyId: string; networks: number }) => void;
}): KeyNetworks {
	const keys = new Map<string, { usedAtMs: Map<string, Milliseconds>; toldAbove: number }>();
	return {
		used: (keyId, address) => {
			const network = networkOf(address, sameOwner);
			const key = keys.get(keyId) ?? { usedAtMs: new Map<string, Milliseconds>(), toldAbove: many };
			if (!keys.has(keyId)) {
				if (keys.size >= maxKeys) return;
				keys.set(keyId, key);
			}
			const { usedAtMs } = key;
			const isNew = !usedAtMs.has(network);
			if (isNew && usedAtMs.size >= maxNetworks) return;
			usedAtMs.set(network, nowMs());
			if (!isNew || usedAtMs.size <= key.toldAbove) return;
			forget(usedAtMs, nowMs() - windowMs);
			if (usedAtMs.size <= key.toldAbove) return;
			key.toldAbove = 2 * usedAtMs.size;
			onMany({ keyId, networks: usedAtMs.size });
		},
		most: () => {
			let most = 0;
			for (const [keyId, { usedAtMs }] of keys) {
				forget(usedAtMs, nowMs() - windowMs);
				if (usedAtMs.size === 0) keys.delete(keyId);
				most = Math.max(most, usedAtMs.size);
			}
			return most;
		},
	};
}

function forget(usedAtMs: Map<string, Milliseconds>, beforeMs: Milliseconds): void {
	for (const [network, atMs] of usedAtMs) if (atMs < beforeMs) usedAtMs.delete(network);
}
