import { randomBytes, randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { parseSealKeys } from "../../config/seal-keys.ts";
import { createApp } from "../http/create-app.ts";
import { createRateLimits } from "../key/rate-limits.ts";
import { deleteWebhook, getWebhooks, postWebhook, postWebhookRotate } from "./webhooks.ts";

const rates = { quote: 1, build: 1, submit: 1, delegation: 1, status: 1, list: 1_000 };
let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
});
afterAll(() => database.drop());

/** Returns a caller of a service, with a new account. */
async function caller({ hasKeys = true } = {}) {
	const accountId = randomUUID();
	await database.owner.query("insert into accounts (id, name) values ($1, $2)", [accountId, accountId]);
	const webhookKeys = hasKeys ? parseSealKeys(`a:${randomBytes(32).toString("base64url")}`) : undefined;
	const parts = { db: database.pool, webhookKeys, newId: randomUUID, isDevnet: false };
	const account = {
		accountId,
		accountCreatedAt: new Date(0),
		keyId: accountId,
		limits: { rates, heldStatusCalls: 1 },
	};
	const app = createApp({
		routes: [
			postWebhook(parts),
			getWebhooks(parts),
			deleteWebhook(parts),
			postWebhookRotate({ ...parts, nowMs: Date.now }),
		],
		apiKeys: { authenticate: async () => account },
		rateLimits: createRateLimits({
			redis: { run: async () => undefined, close: () => {} },
			unauthenticatedPerSecond: 1,
		}),
		log: pino({ level: "silent" }),
	});
	return async (method: "GET" | "POST" | "DELETE", url: string, body?: object) => {
		const answer = await app.inject({
			method,
			url,
			...(body && { payload: body }),
			headers: { "x-api-key": "key" },
		});
		return { status: answer.statusCode, body: answer.json() };
	};
}

test("a webhook is added, listed without its secret, rotated and removed", async () => {
	const call = await caller();
	const added = await call("POST", "/webhooks", { url: "https://agent.example/hook" });
	expect(added).toMatchObject({ status: 200, body: { secret: expect.stringMatching(/^whsec_/) } });
	const { webhookId, secret } = added.body;
	const { body: list } = await call("GET", "/webhooks");
	expect(list.webhooks).toMatchObject([{ webhookId, state: "active", waiting: 0, givenUp: 0 }]);
	expect(JSON.stringify(list)).not.toContain("whsec_");
	const { rows } = await database.owner.query("select secret from webhooks");
	expect(JSON.stringify(rows)).not.toContain(secret);
	const rotated = await call("POST", `/webhooks/${webhookId}/rotate`, {});
	expect(rotated).toMatchObject({ status: 200, body: { secret: expect.stringMatching(/^whsec_/) } });
	expect(rotated.body.secret).not.toBe(secret);
	const stranger = await caller();
	expect(await stranger("DELETE", `/webhooks/${webhookId}`)).toMatchObject({ status: 404 });
	expect(await stranger("POST", `/webhooks/${webhookId}/rotate`, {})).toMatchObject({ status: 404 });
	expect(await call("DELETE", `/webhooks/${webhookId}`)).toEqual({ status: 200, body: { webhookId } });
	expect(await call("DELETE", `/webhooks/${webhookId}`)).toMatchObject({ status: 404 });
	expect(await call("DELETE", "/webhooks/x")).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
});

test("a private address, an eleventh webhook, and a service without keys are refused with a reason", async () => {
	const call = await caller();
	expect(await call("POST", "/webhooks", { url: "https://169.254.169.254" })).toMatchObject({
		status: 400,
		body: { code: "INVALID_REQUEST", details: { issues: [{ path: "url" }] } },
	});
	for (let i = 0; i < 10; i++) {
		expect(await call("POST", "/webhooks", { url: "https://agent.example" })).toMatchObject({ status: 200 });
	}
	expect(await call("POST", "/webhooks", { url: "https://agent.example" })).toMatchObject({ status: 400 });
	const without = await caller({ hasKeys: false });
	expect(await without("POST", "/webhooks", { url: "https://agent.example" })).toMatchObject({ status: 404 });
});

test("a URL with a character that PostgreSQL cannot store is 400 with the field's name", async () => {
	const call = await caller();
	for (const url of ["https://agent.example/\u0000", "https://agent.example/\ud800"]) {
		expect(await call("POST", "/webhooks", { url })).toMatchObject({
			status: 400,
			body: { code: "INVALID_REQUEST", details: { issues: [{ path: "url" }] } },
		});
	}
});

test("of 50 concurrent requests to add a webhook, ten succeed", async () => {
	const call = await caller();
	const answers = await Promise.all(
		Array.from({ length: 50 }, () => call("POST", "/webhooks", { url: "https://agent.example" })),
	);
	const statuses = Object.groupBy(answers, ({ status }) => String(status));
	expect([statuses["200"]?.length, statuses["400"]?.length]).toEqual([10, 40]);
	expect((await call("GET", "/webhooks")).body.webhooks).toHaveLength(10);
});

test("a secret can be rotated again immediately, until ten are valid, and the refusal has the reason", async () => {
	const call = await caller();
	const { webhookId } = (await call("POST", "/webhooks", { url: "https://agent.example" })).body;
	const answers = await Promise.all(
		Array.from({ length: 12 }, () => call("POST", `/webhooks/${webhookId}/rotate`, {})),
	);
	const refused = answers.filter(({ status }) => status === 400);
	expect([answers.length - refused.length, refused.length]).toEqual([9, 3]);
	for (const { body } of refused) {
		expect(body).toMatchObject({ code: "INVALID_REQUEST", details: { issues: [{ path: "webhookId" }] } });
	}
});
