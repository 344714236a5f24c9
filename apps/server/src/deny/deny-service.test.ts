import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fromSolanaWord } from "@geoswap/protocol";
import { getAddress, type Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createLog } from "../telemetry/log.ts";
import { createDenyList, type DenyList } from "./deny-list.ts";
import { createDenyService } from "./deny-service.ts";

type Handler = (address: string, request: IncomingMessage, response: ServerResponse) => void;

const wallet = "0x1111111111111111111111111111111111111111";
const recipient = "0x2222222222222222222222222222222222222222";
const asked: string[] = [];
const lookups: string[] = [];
let handle: Handler;
let underWay = 0;
let maxUnderWay = 0;
let nowMs = 0;
let list: DenyList;

const server = createServer((request, response) => {
	const address = new URL(request.url ?? "", "http://test").searchParams.get("address") ?? "";
	asked.push(address);
	maxUnderWay = Math.max(maxUnderWay, ++underWay);
	response.on("close", () => underWay--);
	handle(address, request, response);
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
	server.closeAllConnections();
	server.close();
});

/** Answers that the addresses of this set are denied. */
function answerWith(denied: ReadonlySet<string>): Handler {
	return (address, _, response) => {
		response.end(JSON.stringify({ denied: denied.has(address), more: "is ignored" }));
	};
}

function start({ timeoutMs = 10_000, token }: { timeoutMs?: number; token?: string } = {}): void {
	const { port } = server.address() as AddressInfo;
	list = createDenyList(
		createDenyService({
			url: `http://127.0.0.1:${port}/check?list=ours`,
			timeoutMs,
			cacheSeconds: 60,
			token,
			onLookup: (how) => lookups.push(how),
			nowMs: () => nowMs,
			log: createLog({ level: "silent", process: "test" }),
		}),
	);
}

beforeEach(() => {
	asked.length = 0;
	lookups.length = 0;
	maxUnderWay = 0;
	nowMs = 1_000_000;
	handle = answerWith(new Set());
	start();
});
afterEach(() => list.close());

const find = (parties: { wallet: Hex; recipient: Hex } = { wallet, recipient }) =>
	list.findDenied(parties, "quote");

test("each party is looked up once in the form of its chain, with the token, and both answers are cached", async () => {
	let seen: IncomingMessage | undefined;
	const onSolana = `0x${"5a".repeat(32)}` as const;
	handle = (address, request, response) => {
		seen = request;
		answerWith(new Set([fromSolanaWord(onSolana)]))(address, request, response);
	};
	await list.close();
	start({ token: "secret" });
	expect(await find({ wallet, recipient: onSolana })).toBe("recipient");
	expect(await find({ wallet, recipient: onSolana })).toBe("recipient");
	expect(asked.toSorted()).toEqual([getAddress(wallet), fromSolanaWord(onSolana)].toSorted());
	expect(seen?.headers.authorization).toBe("Bearer secret");
	expect(seen?.url).toMatch(/^\/check\?list=ours&address=/);
	expect(lookups).toEqual(["ok", "ok"]);
});

test("an answer counts for its time only, also if the clock is set back", async () => {
	expect(await find()).toBeUndefined();
	handle = answerWith(new Set([getAddress(recipient)]));
	nowMs += 59_999;
	expect(await find()).toBeUndefined();
	nowMs += 1;
	expect(await find()).toBe("recipient");
	handle = answerWith(new Set());
	nowMs -= 100_000;
	expect(await find()).toBeUndefined();
});

test("concurrent lookups of one address share a request, and there are never more than 16 at once", async () => {
	const held: (() => void)[] = [];
	handle = (address, request, response) => {
		held.push(() => answerWith(new Set())(address, request, response));
	};
	const wallets = Array.from({ length: 40 }, (_, i) => `0x${String(i).padStart(40, "0")}` as Hex);
	const all = [...wallets, ...wallets].map((one) => find({ wallet: one, recipient: one }));
	await expect.poll(() => held.length).toBe(16);
	let isDone = false;
	const done = Promise.all(all).finally(() => {
		isDone = true;
	});
	await expect
		.poll(() => {
			held.shift()?.();
			return isDone;
		})
		.toBe(true);
	expect(await done).toEqual(all.map(() => undefined));
	expect(asked).toHaveLength(40);
	expect(maxUnderWay).toBe(16);
});

const useless: Record<string, Handler> = {
	"another status": (_, __, response) => response.writeHead(404).end('{"denied": false}'),
	"no JSON": (_, __, response) => response.end("denied: false"),
	"another shape": (_, __, response) => response.end('{"denied": "false"}'),
	"a redirect": (_, __, response) => response.writeHead(302, { location: "/else" }).end(),
	"a closed connection": (_, __, response) => response.destroy(),
	"an answer that stops in the middle": (_, __, response) => {
		response.writeHead(200, { "content-length": "100" });
		response.write('{"denied": false}');
		response.destroy();
	},
};
test.each(Object.entries(useless))("%s is silence, not permission, and is not cached", async (_, handler) => {
	handle = handler;
	expect(await find()).toBe("silent");
	expect(lookups).toContain("failed");
	handle = answerWith(new Set());
	nowMs += 1_000;
	expect(await find()).toBeUndefined();
});

test("a service that does not answer in time is silent, and is left alone for a second", async () => {
	handle = () => {};
	await list.close();
	start({ timeoutMs: 50 });
	expect(await find()).toBe("silent");
	const before = asked.length;
	expect(await find({ wallet: recipient, recipient: wallet })).toBe("silent");
	expect(asked).toHaveLength(before);
	handle = answerWith(new Set([getAddress(wallet)]));
	nowMs += 1_000;
	await expect.poll(() => find()).toBe("wallet");
});

test("a denied party is found although the other one cannot be looked up", async () => {
	handle = (address, request, response) =>
		address === getAddress(wallet)
			? response.writeHead(500).end()
			: answerWith(new Set([address]))(address, request, response);
	expect(await find()).toBe("recipient");
});
