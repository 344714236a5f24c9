import type { Bucket, Taken, TokenBuckets } from "./memory-buckets.ts";
import type { PromptRedis, Script } from "./prompt-redis.ts";

/**
 * Takes up to `count` tokens from each bucket, one after the other as `takeToken` does, by the clock of Redis.
 * Returns how long each bucket needed before that until it was full. Its entries expire once the bucket is full.
 */
const takeScript: Script = {
	name: "geoswapTakeTokens",
	lua: `
local time = redis.call("TIME")
local now = time[1] * 1000000 + time[2]
local befores = {}
for i, key in ipairs(KEYS) do
	local capacity, interval, count = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
	local empty = capacity * interval
	local before = math.max((tonumber(redis.call("GET", key)) or 0) - now, 0)
	if before > empty then before = 0 end
	local after = before + math.min(count, math.floor((empty - before) / interval)) * interval
	if after > before then
		redis.call("SET", key, string.format("%.0f", now + after), "PX", math.ceil(after / 1000))
	end
	befores[i] = before
end
return befores
`,
};

/** Gives a token back, unless the bucket is full again. */
const giveBackScript: Script = {
	name: "geoswapGiveTokenBack",
	lua: `
local fullAt = tonumber(redis.call("GET", KEYS[1]))
if not fullAt then return 0 end
redis.call("SET", KEYS[1], string.format("%.0f", fullAt - tonumber(ARGV[1])), "KEEPTTL")
return 1
`,
};

/** The requests of one turn of the event loop that take from one bucket, in order of arrival. */
type Takers = { key: string; bucket: Bucket; resolves: ((taken: Taken | undefined) => void)[] };

/** Creates buckets that all processes share. All takes in one turn of the event loop are one call to Redis. */
export function createRedisBuckets({ redis, prefix }: { redis: PromptRedis; prefix: string }): TokenBuckets {
	let waiting = new Map<string, Takers>();

	async function takeAll(): Promise<void> {
		const all = [...waiting.values()];
		waiting = new Map();
		const answer = await redis.run(
			takeScript,
			all.map(({ key }) => key),
			all.flatMap(({ bucket, resolves }) => [bucket.capacity, bucket.intervalUs, resolves.length]),
		);
		const befores: unknown[] = Array.isArray(answer) ? answer : [];
		for (const [i, { bucket, resolves }] of all.entries()) tell(resolves, bucket, befores[i]);
	}

	return {
		take(name, bucket) {
			if (waiting.size === 0) setImmediate(() => void takeAll());
			// A changed limit makes another bucket with the same name.
			const id = `${name}:${bucket.capacity}:${bucket.intervalUs}`;
			let takers = waiting.get(id);
			if (!takers) {
				takers = { key: `${prefix}:${name}`, bucket, resolves: [] };
				waiting.set(id, takers);
			}
			const { resolves } = takers;
			return new Promise((resolve) => resolves.push(resolve));
		},
		giveBack(name, { intervalUs }) {
			// If Redis does not answer, the token is lost and comes back with time.
			void redis.run(giveBackScript, [`${prefix}:${name}`], [intervalUs]);
		},
	};
}

/**
 * Resolves each request with what it took from a bucket in this prior state, or with undefined if Redis did not
 * answer.
 */
function tell(resolves: Takers["resolves"], { capacity, intervalUs }: Bucket, beforeUs: unknown): void {
	let untilFullUs = Number(beforeUs);
	for (const resolve of resolves) {
		if (beforeUs === undefined) {
			resolve(undefined);
			continue;
		}
		const isAllowed = untilFullUs + intervalUs <= capacity * intervalUs;
		if (isAllowed) untilFullUs += intervalUs;
		resolve({ isAllowed, untilFullUs });
	}
}
