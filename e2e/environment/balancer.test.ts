import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { portSource } from "@geoswap/devnet";
import { errorBodySchema } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startBalancer } from "./start-balancer.ts";

vi.setConfig({ testTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "geoswap-balancer-"));
const api = createServer((_, response) => response.end("{}"));
let balancer: Awaited<ReturnType<typeof startBalancer>>;
beforeAll(async () => {
	api.listen(0, "127.0.0.1");
	await once(api, "listening");
	const { port } = api.address() as AddressInfo;
	balancer = await startBalancer(
		{ logDir: folder, serverEnvironment: { GEOSWAP_CONFIG: join(folder, "config.json") } },
		{ port: await portSource()(), apiPorts: [port] },
	);
});
afterAll(async () => {
	await balancer?.stop();
	api.closeAllConnections();
	api.close();
	rmSync(folder, { recursive: true });
});

/** Sends a request from an address of this machine, and returns the answer. */
async function askFrom(localAddress: string, headers: Record<string, string> = {}) {
	const [response] = (await once(get(balancer.baseUrl, { localAddress, headers }), "response")) as [
		IncomingMessage,
	];
	return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

test("the balancer refuses a flood without keys with the error of the service, and admits a caller with a key", async () => {
	const source = "127.0.8.1";
	let refusal: Awaited<ReturnType<typeof askFrom>> | undefined;
	// On a busy machine it takes a while until that many requests come within ten seconds, and a health check of the API
	// may fail meanwhile.
	const deadline = performance.now() + 50_000;
	while (!refusal && performance.now() < deadline) {
		const answers = await Promise.all(Array.from({ length: 100 }, () => askFrom(source)));
		expect(answers.filter(({ status }) => status !== 200 && status !== 503 && status !== 429)).toEqual([]);
		refusal = answers.find(({ status }) => status === 429);
	}
	expect(refusal).toMatchObject({
		status: 429,
		headers: {
			"retry-after": "10",
			"ratelimit-limit": "2000",
			"ratelimit-remaining": "0",
			"ratelimit-reset": "10",
		},
	});
	const body = errorBodySchema.parse(JSON.parse(refusal?.text ?? ""));
	expect(body).toMatchObject({ code: "RATE_LIMITED", details: { retryAfterSeconds: 10 } });
	expect(refusal?.headers["x-request-id"]).toBe(body.requestId);
	await expect.poll(async () => (await askFrom(source, { "x-api-key": "geosk_any" })).status).toBe(200);
});

test("one source gets at most a thousand connections, and other sources are served meanwhile", async () => {
	const { port } = new URL(balancer.baseUrl);
	const open = new Set<Socket>();
	const sockets = Array.from({ length: 1_050 }, () => {
		const socket = connect({ port: Number(port), host: "127.0.0.1", localAddress: "127.0.8.2" });
		socket.on("connect", () => open.add(socket));
		socket.on("error", () => open.delete(socket));
		socket.on("close", () => open.delete(socket));
		// Only a socket that is read notices that the other side has hung up.
		return socket.resume();
	});
	await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length).toBe(50);
	expect(open.size).toBe(1_000);
	expect((await askFrom("127.0.8.3")).status).toBe(200);
	for (const socket of sockets) socket.destroy();
});
