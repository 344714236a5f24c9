import type { StatusResponse } from "@geoswap/protocol";
import { createClient } from "@geoswap/sdk";
import { afterAll, beforeEach, expect, test } from "vitest";
import { makeStatus, pending, refusal, startFakeService, swapId } from "../../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../../test/run-cli.ts";
import { followSwap } from "../follow-swap.ts";

const service = await startFakeService();
afterAll(() => service.close());
const { env, deployment } = makeHome();
await runCli(initArgs(service.baseUrl, deployment), { env });
beforeEach(() => service.reset());

const path = `/swaps/${swapId}/events`;
const watch = () => runCli(["watch", swapId, "--json"], { env });
const called = () => service.seen.map((one) => one.path);

/** Returns a stream of these states, one event each. */
function streamOf(...states: StatusResponse[]) {
	const events = states.map((data, i) => {
		const event = { id: `evt_${i}`, type: `swap.${data.status}`, timestamp: data.updatedAt, data };
		return `id: 0-${i + 1}\ndata: ${JSON.stringify(event)}\n\n`;
	});
	return { body: `retry: 1\n\n${events.join("")}`, isStream: true };
}

test.each([
	["settled", 0],
	["refunded", 4],
	["failed", 4],
] as const)(
	"watch prints each change from the stream, and a %s swap leads to exit code %i",
	async (status, exit) => {
		service.handlers[path] = () => streamOf(pending, makeStatus({ status }));
		const watched = await watch();
		expect(watched.exit).toBe(exit);
		expect(JSON.parse(watched.stdout)).toMatchObject({ swap: { swapId, status } });
		expect(watched.stderr).toContain("deposited: the input is in escrow");
		expect(watched.stderr).toContain(status);
		expect(called()).toEqual([path]);
	},
);

test("a stream that breaks is reopened at its last position", async () => {
	let opened = 0;
	service.handlers[path] = () => (opened++ === 0 ? streamOf(pending) : streamOf(makeStatus()));
	expect(await watch()).toMatchObject({ exit: 0 });
	expect(called()).toEqual([path, path]);
});

test("a service without streams, or a proxy that answers in its place, is polled", async () => {
	for (const answer of [
		refusal(404, "NOT_FOUND", "fix_request"),
		{ status: 200, body: {} },
		{ status: 403, body: "no" },
	]) {
		service.seen.length = 0;
		service.handlers[path] = () => answer;
		expect(await watch()).toMatchObject({ exit: 0 });
		expect(called()).toEqual([path, `/swap/status/${swapId}`]);
	}
});

test("if a stream stays silent, it is closed, and the service is polled", async () => {
	service.handlers[path] = () => "hold";
	const { signal } = new AbortController();
	const client = createClient({ baseUrl: service.baseUrl, apiKey: "key-1" });
	const told: string[] = [];
	const onUpdate = ({ status }: { status: string }) => told.push(status);
	const swap = await followSwap(client, swapId, { onUpdate, signal, silenceMs: 50 });
	expect([swap.status, told]).toEqual(["settled", ["settled"]]);
});

test("a refused API key leads to exit code 5 with the command that follows the swap, and an unknown swap to exit code 2", async () => {
	service.handlers[path] = () => refusal(401, "UNAUTHORIZED", "check_key");
	const { exit, stdout } = await watch();
	expect({ exit, body: JSON.parse(stdout) }).toMatchObject({
		exit: 5,
		body: { error: { code: "UNAUTHORIZED", mayExecute: true, resume: `geoswap status ${swapId}` } },
	});
	service.handlers[path] = () => refusal(404, "SWAP_NOT_FOUND", "fix_request");
	const unknown = await watch();
	expect({ exit: unknown.exit, body: JSON.parse(unknown.stdout) }).toMatchObject({
		exit: 2,
		body: { error: { code: "UNKNOWN_ID" } },
	});
	expect(called()).toEqual([path, path]);
});

test("Ctrl-C ends the watching with exit code 5, and never ends the swap", async () => {
	const controller = new AbortController();
	service.handlers[path] = () => {
		controller.abort();
		return "hold";
	};
	const { exit, stdout } = await runCli(["watch", swapId, "--json"], { env, interrupt: controller.signal });
	expect({ exit, body: JSON.parse(stdout) }).toMatchObject({
		exit: 5,
		body: { error: { code: "INTERRUPTED", mayExecute: true } },
	});
});
