import type { PromptRedis, Script } from "./prompt-redis.ts";
import type { TokenBuckets } from "./token-bucket.ts";

/** As `takeToken`, by the clock of Redis. What it writes is gone once the bucket is full. */
const takeScript: Script = {
	name: "geoswapTakeToken",
	lua: `
local capacity, interval = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call("TIME")
local now = time[1] * 1000000 + time[2]
local empty = capacity * interval
local before = math.max((tonumber(redis.call("GET", KEYS[1])) or 0) - now, 0)
if before > empty then before = 0 end
local after = before + interval
if after > empty then return { 0, before } end
redis.call("SET", KEYS[1], string.format("%.0f", now + after), "PX", math.ceil(after / 1000))
return { 1, after }
`,
};

/** Buckets that all processes share. */
export function createRedisBuckets({ redis, prefix }: { redis: PromptRedis; prefix: string }): TokenBuckets {
	return {
		async take(name, { capacity, intervalUs }) {
			const answer = await redis.run(takeScript, [`${prefix}:${name}`], [capacity, intervalUs]);
			if (!Array.isArray(answer)) return undefined;
			const [isAllowed, untilFullUs] = answer as [number, number];
			return { isAllowed: isAllowed === 1, untilFullUs };
		},
	};
}
