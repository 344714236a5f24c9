import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSender } from "./create-sender.ts";
import { isPublicAddress, webhookUrlProblem } from "./webhook-url.ts";

const hostile = [
	["0.0.0.0", "this host"],
	["10.0.0.1", "private"],
	["172.16.0.1", "private"],
	["172.31.255.255", "private"],
	["192.168.1.1", "private"],
	["100.64.0.1", "carrier-grade NAT"],
	["127.0.0.1", "loopback"],
	["127.8.8.8", "loopback"],
	["169.254.169.254", "the metadata service of clouds"],
	["192.0.0.1", "protocol assignments"],
	["192.0.2.1", "documentation"],
	["198.18.0.1", "benchmarking"],
	["198.51.100.1", "documentation"],
	["203.0.113.1", "documentation"],
	["224.0.0.1", "multicast"],
	["240.0.0.1", "reserved"],
	["255.255.255.255", "broadcast"],
	["::", "unspecified"],
	["::1", "loopback"],
	["::ffff:127.0.0.1", "IPv4-mapped loopback"],
	["::ffff:7f00:1", "IPv4-mapped loopback in hex"],
	["::ffff:10.0.0.1", "IPv4-mapped private"],
	["::ffff:169.254.169.254", "IPv4-mapped metadata"],
	["::127.0.0.1", "IPv4-compatible loopback"],
	["64:ff9b::7f00:1", "NAT64 of loopback"],
	["64:ff9b:1::1", "local NAT64"],
	["100::1", "discard"],
	["2001::1", "Teredo"],
	["2001:db8::1", "documentation"],
	["2002:7f00:1::", "6to4 of loopback"],
	["fc00::1", "unique local"],
	["fd12:3456::1", "unique local"],
	["fe80::1", "link local"],
	["fec0::1", "site local"],
	["ff02::1", "multicast"],
	["4000::1", "not given out"],
] as const;

test.each(hostile)("%s (%s) is not public", (address) => {
	expect(isPublicAddress(address)).toBe(false);
});

test.each(["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8"])(
	"%s is public",
	(address) => {
		expect(isPublicAddress(address)).toBe(true);
	},
);

test.each([
	"http://example.com",
	"ftp://example.com",
	"https://user:password@example.com",
	"https://example.com/#part",
	"https://localhost",
	"https://a.localhost",
	"https://127.1",
	"https://2130706433",
	"https://0x7f000001",
	"https://0177.0.0.1",
	"https://[::ffff:7f00:1]",
	"https://169.254.169.254/latest/meta-data",
	"not a url",
	`https://example.com/${"a".repeat(2_048)}`,
])("%s is refused as a webhook", (url) => {
	expect(webhookUrlProblem(url, { isDevnet: false })).toBeDefined();
});

test("a public https address is accepted, with any port and path", () => {
	expect(webhookUrlProblem("https://example.com:8443/hook?key=1", { isDevnet: false })).toBeUndefined();
	expect(webhookUrlProblem("http://127.0.0.1:1", { isDevnet: true })).toBeUndefined();
});

let receiver: Server;
let connections = 0;
let answer = { status: 200, headers: {} as Record<string, string> };
beforeAll(async () => {
	receiver = createServer((request, response) => {
		request.resume();
		response.writeHead(answer.status, answer.headers).end("x".repeat(100_000));
	});
	receiver.on("connection", () => {
		connections++;
	});
	receiver.listen(0, "127.0.0.1");
	await once(receiver, "listening");
});
afterAll(() => void receiver.close());
const port = () => (receiver.address() as AddressInfo).port;

/** Returns a resolver that returns these answers one after the other. */
function resolver(...answers: string[][]) {
	const asked: string[] = [];
	const resolve = (
		hostname: string,
		_: unknown,
		callback: (error: Error | null, addresses: LookupAddress[]) => void,
	) => {
		asked.push(hostname);
		const addresses = answers[asked.length - 1] ?? answers.at(-1) ?? [];
		callback(
			null,
			addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
		);
	};
	return { asked, resolve };
}

const request = (url: string) => ({ url, headers: {}, body: "{}" });
const notPublic = {
	outcome: "failed",
	error: "the host has an address that is not reachable from the internet",
};

test.each(hostile)("nothing is sent to %s (%s), by name or by address", async (address) => {
	const { resolve } = resolver([address]);
	const sender = createSender({ isDevnet: false, resolve, timeoutMs: 1_000 });
	connections = 0;
	expect(await sender.send(request(`https://receiver.example:${port()}`))).toEqual(notPublic);
	const literal = address.includes(":") ? `[${address}]` : address;
	expect(await sender.send(request(`https://${literal}:${port()}`))).toEqual(notPublic);
	expect(connections).toBe(0);
	await sender.close();
});

test("a name with one public and one private address is refused", async () => {
	const { resolve } = resolver(["2606:4700::1111", "127.0.0.1"]);
	const sender = createSender({ isDevnet: false, resolve, timeoutMs: 1_000 });
	connections = 0;
	expect(await sender.send(request(`https://receiver.example:${port()}`))).toEqual(notPublic);
	expect(connections).toBe(0);
	await sender.close();
});

test("a name that resolves to a public address first and a private one second reaches nothing private", async () => {
	// A machine without IPv6 has no route to the public address. On others, no host there answers in time.
	const { asked, resolve } = resolver(["2001:4860:ffff::1"], ["127.0.0.1"]);
	const sender = createSender({ isDevnet: false, resolve, timeoutMs: 300 });
	connections = 0;
	const url = `https://receiver.example:${port()}`;
	expect(await sender.send(request(url))).toMatchObject({ outcome: "failed" });
	expect(asked).toHaveLength(1);
	expect(await sender.send(request(url))).toEqual(notPublic);
	expect(connections).toBe(0);
	await sender.close();
});

test("a redirect is not followed, and a long answer is not read", async () => {
	const sender = createSender({ isDevnet: true, timeoutMs: 5_000 });
	const url = `http://127.0.0.1:${port()}`;
	connections = 0;
	answer = { status: 302, headers: { location: `${url}/other` } };
	expect(await sender.send(request(url))).toEqual({
		outcome: "failed",
		error: "the receiver answered 302; redirects are not followed",
	});
	answer = { status: 200, headers: {} };
	expect(await sender.send(request(url))).toEqual({ outcome: "delivered" });
	answer = { status: 410, headers: {} };
	expect(await sender.send(request(url))).toEqual({ outcome: "gone" });
	answer = { status: 503, headers: {} };
	expect(await sender.send(request(url))).toEqual({ outcome: "failed", error: "the receiver answered 503" });
	await sender.close();
});
