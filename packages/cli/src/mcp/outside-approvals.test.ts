import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ApprovedTerms } from "./approvals.ts";
import { openOutsideApprovals, openQuestionFiles } from "./outside-approvals.ts";

const homes: string[] = [];
const closings: (() => Promise<void>)[] = [];
afterAll(async () => {
	for (const close of closings) await close();
	for (const home of homes) rmSync(home, { recursive: true, force: true });
});

const terms = { id: "mcp-rent", amount: "5", minOutput: "4" } as unknown as ApprovedTerms;
const text = "Approve this swap?\nYou give at most 5 <b>USDC</b>\nRecipient 0x01";
const signal = new AbortController().signal;

/** Opens the questions of a new home. The user's browser gets the addresses of the pages. */
function start(options: { nowMs?: () => number; waitForMs?: number } = {}) {
	const home = mkdtempSync(join(tmpdir(), "geoswap-approvals-"));
	homes.push(home);
	const urls: string[] = [];
	const outside = openOutsideApprovals(
		{
			config: { home } as never,
			output: { isJson: false, say: () => {}, result: async () => {} },
			io: { openUrl: async (url: string) => urls.push(url) > 0 } as never,
		},
		options,
	);
	closings.push(outside.close);
	let questions = 0;
	const decide = (args: object = { amount: "5" }) =>
		outside.decide({ id: "mcp-rent", args }, async () => ({ terms, text: `${text} ${++questions}` }), signal);
	const url = () =>
		expect
			.poll(() => urls.at(-1))
			.toBeDefined()
			.then(() => new URL(urls.at(-1) ?? ""));
	return { decide, url, files: openQuestionFiles(home), questions: () => questions };
}

type Answer = { status: number; body: string; headers: Record<string, unknown> };

/** Sends a request with any headers, as a program or a hostile page would. */
function send(
	{ host, pathname, port }: URL,
	{ method = "GET", headers = {}, body = "" }: { method?: string; headers?: object; body?: string } = {},
): Promise<Answer> {
	return new Promise((resolve, reject) => {
		const sent = request(
			{ host: "127.0.0.1", port, path: pathname, method, headers: { host, ...headers } },
			(response) => {
				let received = "";
				response.on("data", (chunk: Buffer) => {
					received += chunk.toString();
				});
				response.on("end", () =>
					resolve({ status: response.statusCode ?? 0, body: received, headers: response.headers }),
				);
			},
		);
		sent.once("error", reject);
		sent.end(body);
	});
}

/** Answers as the page's own form does, except for these changes. */
async function answerPage(url: URL, answer: "approve" | "decline", headers: object = {}): Promise<Answer> {
	const [, form = ""] = /name="form" value="([\w-]+)"/.exec((await send(url)).body) ?? [];
	return send(url, {
		method: "POST",
		headers: {
			origin: url.origin,
			"content-type": "application/x-www-form-urlencoded",
			"sec-fetch-site": "same-origin",
			...headers,
		},
		body: new URLSearchParams({ form, answer }).toString(),
	});
}

test.each(["approve", "decline"] as const)(
	"a page shows the terms as text and takes one answer: %s",
	async (answer) => {
		const { decide, url } = start();
		const decided = decide();
		const page = await url();
		expect(page.hostname).toBe("127.0.0.1");
		const { status, body, headers } = await send(page);
		expect(status).toBe(200);
		expect(body).toContain("You give at most 5 &lt;b&gt;USDC&lt;/b&gt;");
		expect(headers).toMatchObject({
			"content-security-policy": expect.stringContaining("default-src 'none'"),
			"cache-control": "no-store",
			"x-frame-options": "DENY",
		});
		expect((await answerPage(page, answer)).status).toBe(200);
		expect(await decided).toEqual(
			answer === "approve" ? { answer: "approved", terms } : { answer: "declined" },
		);
		expect((await send(page)).status).toBe(410);
		expect((await answerPage(page, "approve")).status).toBe(410);
	},
);

test("an answer from another page, without the form's value, by another host name or to another address changes nothing", async () => {
	const { decide, url } = start({ waitForMs: 1_500 });
	const decided = decide();
	const page = await url();
	const refused = await Promise.all([
		answerPage(page, "approve", { origin: "https://attacker.example" }),
		answerPage(page, "approve", { origin: "null" }),
		answerPage(page, "approve", { "sec-fetch-site": "cross-site" }),
		send(page, { method: "POST", headers: { origin: page.origin }, body: "answer=approve&form=x" }),
		send(page, { method: "PUT", headers: { origin: page.origin }, body: "answer=approve" }),
	]);
	expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
	const rebound = await answerPage(page, "approve", { host: `attacker.example:${page.port}` });
	expect(rebound.status).toBe(421);
	expect((await send(new URL("/guess", page))).status).toBe(410);
	expect(await decided).toEqual({ answer: "pending" });
});

test("a call that got no answer in time gets it when it is repeated, once, and asks only once", async () => {
	const { decide, files, questions } = start({ waitForMs: 0 });
	expect(await decide()).toEqual({ answer: "pending" });
	expect(await decide()).toEqual({ answer: "pending" });
	const { nonce = "" } = (await files.find("mcp-rent")) ?? {};
	await files.answer("mcp-rent", { nonce: "another question's", approve: true });
	expect(await decide()).toEqual({ answer: "pending" });
	await files.answer("mcp-rent", { nonce, approve: true });
	expect(await decide()).toEqual({ answer: "approved", terms });
	expect(questions()).toBe(1);
	// The answer was for that question only.
	expect(await decide()).toEqual({ answer: "pending" });
	expect(questions()).toBe(2);
});

test("other arguments under the id, and a question that has expired, need an approval of their own", async () => {
	let nowMs = Date.now();
	const { decide, url, files, questions } = start({ waitForMs: 0, nowMs: () => nowMs });
	expect(await decide()).toEqual({ answer: "pending" });
	const { nonce = "" } = (await files.find("mcp-rent")) ?? {};
	await files.answer("mcp-rent", { nonce, approve: true });
	expect(await decide({ amount: "6" })).toEqual({ answer: "pending" });
	expect(questions()).toBe(2);
	nowMs += 16 * 60_000;
	const late = (await files.find("mcp-rent"))?.nonce ?? "";
	await files.answer("mcp-rent", { nonce: late, approve: true });
	expect(await decide({ amount: "6" })).toEqual({ answer: "pending" });
	expect(questions()).toBe(3);
	expect((await url()).href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}$/);
});
