import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { inject, vi } from "vitest";
import { connectRedis, type PromptRedis } from "../../src/api/key/prompt-redis.ts";

export type TestRedis = {
	/** Connections, one for each of several processes. */
	connections: PromptRedis[];
	/** A connection for inspecting the data. */
	redis: Redis;
	/** Prefix of all names that the test uses, unique to this test. */
	prefix: string;
	/** Closes the connections and removes what they wrote. */
	close: () => Promise<void>;
};

/** Connects with a longer timeout than a service, because the machine that runs tests may be busy. */
export async function connectTestRedis({
	processes,
	url = inject("redisUrl"),
	timeoutMs = 10_000,
}: {
	processes: number;
	url?: string;
	timeoutMs?: number;
}): Promise<TestRedis> {
	const redis = new Redis(inject("redisUrl"));
	const prefix = `geoswap:test:${randomUUID()}`;
	const connections = Array.from({ length: processes }, () => connectRedis({ url, timeoutMs }));
	for (const connection of connections) {
		await vi.waitUntil(async () => (await connection.run(answer, [], [])) === 1, { timeout: 10_000 });
	}
	return {
		connections,
		redis,
		prefix,
		close: async () => {
			for (const connection of connections) connection.close();
			const keys = await redis.keys(`${prefix}*`);
			if (keys.length > 0) await redis.del(keys);
			redis.disconnect();
		},
	};
}

const answer = { name: "geoswapAnswer", lua: "return 1" };
