import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toHex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Iris, readAttestation, requestReattestation } from "./read-attestation.ts";

let server: Server;
let iris: Iris;
let requests: string[] = [];
let answer: { status: number; body: string; headers?: Record<string, string> };

beforeAll(async () => {
	server = createServer((request, response) => {
		requests.push(`${request.method} ${request.url}`);
		response.writeHead(answer.status, answer.headers).end(answer.body);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	iris = { url: `http://127.0.0.1:${port}/`, timeoutMs: 5_000 };
});
afterAll(() => {
	server?.closeAllConnections();
	server?.close();
});
beforeEach(() => {
	requests = [];
});

const transactionHash = toHex(5, { size: 32 });
const nonce = toHex(7, { size: 32 });

/** A message in the form that Circle documents. */
const complete = {
	message: "0x00aa",
	eventNonce: nonce,
	attestation: "0x1234",
	decodedMessage: { sourceDomain: "6", decodedMessageBody: { amount: "10000" } },
	cctpVersion: 2,
	status: "complete",
	delayReason: null,
};
const pending = { ...complete, message: "0x", attestation: "PENDING", status: "pending_confirmations" };

function read(body: unknown, status = 200) {
	answer = { status, body: typeof body === "string" ? body : JSON.stringify(body) };
	return readAttestation(iris, { sourceDomain: 6, transactionHash });
}

test("an attestation is requested by the domain and the transaction of the burn", async () => {
	expect(await read({ messages: [complete] })).toEqual({
		status: "complete",
		message: "0x00aa",
		attestation: "0x1234",
	});
	expect(requests).toEqual([`GET /v2/messages/6?transactionHash=${transactionHash}`]);
});

test.each<[string, object, object]>([
	["that is pending has its nonce", pending, { status: "pending", nonce }],
	["without a nonce yet", { ...pending, eventNonce: null }, { status: "pending" }],
	[
		"that is delayed has the reason",
		{ ...pending, delayReason: "insufficient_fee" },
		{ status: "pending", nonce, delayReason: "insufficient_fee" },
	],
	["whose version is text", { ...complete, cctpVersion: "2" }, { status: "complete" }],
	["of the first version", { ...complete, cctpVersion: 1 }, { status: "unreadable" }],
	["with another status", { ...complete, status: "attested" }, { status: "unreadable" }],
	[
		"that is complete without an attestation",
		{ ...complete, attestation: "PENDING" },
		{ status: "unreadable" },
	],
	["that is complete without bytes", { ...complete, message: "0x" }, { status: "unreadable" }],
	["with half a byte", { ...complete, attestation: "0x123" }, { status: "unreadable" }],
])("a message %s is read as what it is", async (_, message, expected) => {
	expect(await read({ messages: [message] })).toMatchObject(expected);
});

test.each<[string, unknown, number, string]>([
	["no transaction", { error: "Message hash not found" }, 404, "not seen"],
	["no messages", { messages: [] }, 200, "not seen"],
	["two messages of a transaction that sent one", { messages: [complete, complete] }, 200, "unreadable"],
	["a failure", "", 500, "unreadable"],
	["a page", "<html>", 200, "unreadable"],
	["another form", { message: complete }, 200, "unreadable"],
	["more than is read", JSON.stringify({ messages: [], rest: "x".repeat(70_000) }), 200, "unreadable"],
])("an answer with %s is an answer, and no error", async (_, body, status, expected) => {
	expect((await read(body, status)).status).toBe(expected);
});

test("an answer that leads to another place is not followed", async () => {
	answer = { status: 302, body: "", headers: { location: `${iris.url}elsewhere` } };
	expect((await readAttestation(iris, { sourceDomain: 6, transactionHash })).status).toBe("unreadable");
	expect(requests).toHaveLength(1);
});

test("after too many requests, the wait is what Iris states, or five minutes", async () => {
	answer = { status: 429, body: "", headers: { "retry-after": "30" } };
	expect(await readAttestation(iris, { sourceDomain: 6, transactionHash })).toEqual({
		status: "limited",
		retryAfterMs: 30_000,
	});
	answer = { status: 429, body: "" };
	expect(await requestReattestation(iris, nonce)).toEqual({ status: "limited", retryAfterMs: 300_000 });
});

test("a new attestation is requested by the nonce", async () => {
	answer = { status: 200, body: JSON.stringify({ message: "Re-attestation requested.", nonce }) };
	expect(await requestReattestation(iris, nonce)).toEqual({ status: "accepted" });
	expect(requests).toEqual([`POST /v2/reattest/${nonce}`]);
	answer = { status: 400, body: "{}" };
	expect(await requestReattestation(iris, nonce)).toEqual({ status: "unreadable", reason: "status 400" });
});

test("a service that cannot be reached is an answer", async () => {
	const gone = { url: "http://127.0.0.1:1", timeoutMs: 1_000 };
	expect((await readAttestation(gone, { sourceDomain: 6, transactionHash })).status).toBe("unreadable");
});
