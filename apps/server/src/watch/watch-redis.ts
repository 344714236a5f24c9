import type { PromptRedis } from "../api/key/prompt-redis.ts";
import type { Meter } from "../telemetry/meter.ts";

/** Wraps Redis and counts calls that it does not answer, for which each process then counts its own requests. */
export function watchRedis(redis: PromptRedis, { meter }: { meter: Meter }): PromptRedis {
	const count = meter.counter(
		"geoswap_redis_unanswered_total",
		"Rate limit calls that Redis did not answer in time. The process counted its own requests instead",
		[{}],
	);
	return {
		...redis,
		run: async (...question) => {
			const answer = await redis.run(...question);
			if (answer === undefined) count();
			return answer;
		},
	};
}
