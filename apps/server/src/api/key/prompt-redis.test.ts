import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { portSource, startRedis } from "@geoswap/devnet";
import { Redis } from "ioredis";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { startTcpProxy } from "../../../test/service/tcp-proxy.ts";
import { connectTestRedis } from "../../../test/service/test-redis.ts";
import { connectRedis, type Script } from "./prompt-redis.ts";

const echo: Script = { name: "geoswapEcho", lua: "return ARGV[1]" };

/** Blocks the event loop. */
function beBusy(ms: number): void {
	for (const until = performance.now() + ms; performance.now() < until; );
}

test("a response that arrived while the process was busy is used, even after the timeout", async () => {
	const timeoutMs = 300;
	const { connections, close } = await connectTestRedis({ processes: 1, timeoutMs });
	const [redis] = connections;
	const first = redis?.run(echo, [], [1]);
	const second = redis?.run(echo, [], [2]);
	// By then the commands are written, and nothing has been read yet.
	await nextTurn();
	beBusy(2 * timeoutMs);
	expect([await first, await second]).toEqual(["1", "2"]);
	expect(await redis?.run(echo, [], [3])).toBe("3");
	await close();
});

test("the timeout starts when the request is sent to Redis, regardless of how busy the process was before", async () => {
	// The proxy runs in this process too, so an answer takes some turns of its event loop.
	const proxy = await startTcpProxy(Number(new URL(inject("redisUrl")).port || 6379));
	const timeoutMs = 300;
	const url = `redis://127.0.0.1:${proxy.port}`;
	const { connections, close } = await connectTestRedis({ processes: 1, url, timeoutMs });
	const [redis] = connections;
	const answer = redis?.run(echo, [], [1]);
	beBusy(2 * timeoutMs);
	expect(await answer).toBe("1");
	await close();
	proxy.close();
});

test("a Redis that timed out once is used again as soon as it responds", async () => {
	const proxy = await startTcpProxy(Number(new URL(inject("redisUrl")).port || 6379));
	const timeoutMs = 700;
	const url = `redis://127.0.0.1:${proxy.port}`;
	const redis = connectRedis({ url, timeoutMs, askAgainMs: 60_000 });
	onTestFinished(() => {
		redis.close();
		proxy.close();
	});
	const isHeard = async () => (await redis.run(echo, [], [1])) === "1";
	await vi.waitUntil(isHeard, { timeout: 10_000 });
	proxy.setSilent(true);
	expect(await isHeard()).toBe(false);
	proxy.setSilent(false);
	await vi.waitUntil(isHeard, { timeout: 10_000 });
});

test("a connection closed while Redis is silent sends no more pings", async () => {
	const proxy = await startTcpProxy(Number(new URL(inject("redisUrl")).port || 6379));
	onTestFinished(proxy.close);
	const askAgainMs = 10;
	const url = `redis://127.0.0.1:${proxy.port}`;
	const redis = connectRedis({ url, timeoutMs: 50, askAgainMs });
	await vi.waitUntil(async () => (await redis.run(echo, [], [1])) === "1", { timeout: 10_000 });
	const ping = vi.spyOn(Redis.prototype, "ping");
	onTestFinished(() => ping.mockRestore());
	proxy.setSilent(true);
	await redis.run(echo, [], [2]);
	await vi.waitUntil(() => ping.mock.calls.length > 0, { timeout: 10_000 });
	redis.close();
	const asked = ping.mock.calls.length;
	await Promise.allSettled(ping.mock.results.map(({ value }) => value));
	await sleep(20 * askAgainMs);
	expect(ping).toHaveBeenCalledTimes(asked);
});

test("a client whose primary becomes a replica reconnects to the same address", async () => {
	const folder = mkdtempSync(join(tmpdir(), "geoswap-replica-"));
	const freePort = portSource();
	const first = await startRedis({ logFile: join(folder, "redis.log"), port: await freePort() });
	const proxy = await startTcpProxy(Number(new URL(first.url).port));
	const redis = connectRedis({ url: `redis://127.0.0.1:${proxy.port}`, timeoutMs: 2_000 });
	const admin = new Redis(first.url);
	onTestFinished(async () => {
		redis.close();
		admin.disconnect();
		proxy.close();
		await first.stop();
		rmSync(folder, { recursive: true });
	});
	const count: Script = { name: "geoswapCount", lua: 'return redis.call("INCR", KEYS[1])' };
	const key = `geoswap:test:failover:${process.pid}`;
	const isCounted = async () => typeof (await redis.run(count, [key], [])) === "number";
	await vi.waitUntil(isCounted, { timeout: 10_000 });
	await admin.replicaof("127.0.0.1", 1);
	proxy.lead(Number(new URL(inject("redisUrl")).port || 6379));
	await vi.waitUntil(isCounted, { timeout: 10_000, interval: 100 });
	await redis.run({ name: "geoswapForget", lua: 'return redis.call("DEL", KEYS[1])' }, [key], []);
});
