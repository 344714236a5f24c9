import { afterAll, beforeEach, expect, test } from "vitest";
import { refusal, startFakeService } from "../../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../../test/run-cli.ts";

const service = await startFakeService();
afterAll(() => service.close());
const { env, deployment } = makeHome();
await runCli(initArgs(service.baseUrl, deployment), { env });
beforeEach(() => service.reset());

const webhookId = "wh_0198f3a1c2d47e5f8a9b0c1d2e3f4a5b";
const url = "https://agent.example/geoswap";
const secret = "whsec_c2VjcmV0";

async function json(...args: string[]) {
	const { exit, stdout } = await runCli([...args, "--json"], { env });
	return { exit, body: JSON.parse(stdout) };
}
const called = () => service.seen.map(({ method, path, body }) => [method, path, body]);

test("add sends the address, and prints the secret once", async () => {
	service.handlers["/webhooks"] = ({ body }) => ({ body: { webhookId, url: body.url, secret } });
	expect(await json("webhooks", "add", url)).toEqual({ exit: 0, body: { webhookId, url, secret } });
	expect(called()).toEqual([["POST", "/webhooks", JSON.stringify({ url })]]);
	const { stdout, stderr } = await runCli(["webhooks", "add", url], { env });
	expect(stdout.split(secret)).toHaveLength(2);
	expect(stderr).not.toContain(secret);
});

test("list shows the state of each webhook, and why its last delivery failed", async () => {
	const webhook = {
		webhookId,
		url,
		state: "failing",
		createdAt: "2026-06-01T12:00:00.000Z",
		lastError: "the receiver answered 500",
		lastErrorAt: "2026-06-01T12:10:00.000Z",
		waiting: 3,
		givenUp: 1,
	};
	service.handlers["/webhooks"] = () => ({ body: { webhooks: [webhook] } });
	expect(await json("webhooks", "list")).toEqual({ exit: 0, body: { webhooks: [webhook] } });
	const { stdout } = await runCli(["webhooks", "list"], { env });
	for (const text of [
		webhookId,
		url,
		"failing; 3 events wait, 1 were given up",
		"the receiver answered 500",
	]) {
		expect(stdout).toContain(text);
	}
	service.handlers["/webhooks"] = () => ({ body: { webhooks: [] } });
	expect(await runCli(["webhooks", "list"], { env })).toMatchObject({ exit: 0, stdout: "no webhooks\n" });
});

test("rotate prints a new secret, and remove removes", async () => {
	const rotated = { webhookId, secret, previousUntil: "2026-06-02T12:00:00.000Z" };
	service.handlers[`/webhooks/${webhookId}/rotate`] = () => ({ body: rotated });
	service.handlers[`/webhooks/${webhookId}`] = () => ({ body: { webhookId } });
	expect(await json("webhooks", "rotate", webhookId)).toEqual({ exit: 0, body: rotated });
	expect(await json("webhooks", "remove", webhookId)).toEqual({ exit: 0, body: { webhookId } });
	expect(called()).toEqual([
		["POST", `/webhooks/${webhookId}/rotate`, "{}"],
		["DELETE", `/webhooks/${webhookId}`, ""],
	]);
});

test("a refusal leads to exit code 3 with the service's reason, and a wrong command leads to exit code 2", async () => {
	service.handlers["/webhooks"] = () => refusal(400, "INVALID_REQUEST", "fix_request");
	expect(await json("webhooks", "add", "ftp://a.example")).toMatchObject({
		exit: 3,
		body: { error: { code: "INVALID_REQUEST", next: "fix_request" } },
	});
	for (const args of [["add"], ["remove"], ["rotate"], ["list", "excess"], ["nonsense"]]) {
		expect(await json("webhooks", ...args)).toMatchObject({ exit: 2, body: { error: { code: "USAGE" } } });
	}
});

test("if the response to add is lost, the error states that the webhook may exist", async () => {
	const away = await startFakeService();
	const other = makeHome();
	await runCli(initArgs(away.baseUrl, other.deployment), { env: other.env });
	await away.close();
	const { exit, stdout } = await runCli(["webhooks", "add", url, "--json"], { env: other.env });
	expect({ exit, body: JSON.parse(stdout) }).toMatchObject({
		exit: 3,
		body: { error: { code: "WEBHOOK_UNKNOWN", message: expect.stringContaining("geoswap webhooks list") } },
	});
});

test("webhooks alone prints its help", async () => {
	const { exit, stdout } = await runCli(["webhooks"], { env: {} });
	expect(exit).toBe(0);
	for (const name of ["add", "list", "rotate", "remove"]) expect(stdout).toContain(name);
});
