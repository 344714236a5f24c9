import { randomUUID } from "node:crypto";
import type { Milliseconds } from "@geoswap/protocol";
import type { PromptRedis, Script } from "./prompt-redis.ts";

/** Limits how many calls of a key are held open, over all processes. */
export type HeldCalls = {
	/**
	 * Takes a lease to hold a call for so many seconds and returns a function that gives it back; undefined if the key
	 * holds as many as it may.
	 */
	take(keyId: string, allowance: { limit: number; seconds: number }): Promise<(() => void) | undefined>;
};

/** Stores leases of a key by their expiry, so that those of a process that died expire by themselves. */
const takeScript: Script = {
	name: "geoswapTakeLease",
	lua: `
local limit, milliseconds = tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
if redis.call("ZCARD", KEYS[1]) >= limit then return 0 end
redis.call("ZADD", KEYS[1], now + milliseconds, ARGV[1])
if redis.call("PTTL", KEYS[1]) < milliseconds then redis.call("PEXPIRE", KEYS[1], milliseconds) end
return 1
`,
};
const giveBackScript: Script = {
	name: "geoswapGiveLeaseBack",
	lua: `return redis.call("ZREM", KEYS[1], ARGV[1])`,
};

type Lease = {
	id: string;
	keyId: string;
	/** The time at which Redis drops the lease by itself, or a moment before. */
	endsAtMs: Milliseconds;
};

/** Seconds by which a lease outlives its call, since reading the swap and answering take time too. */
const marginSeconds = 5;

/**
 * Creates held calls. If Redis does not answer promptly, each process counts its own calls, and gives its leases back
 * once Redis answers again.
 */
export function createHeldCalls({
	redis,
	prefix = "geoswap:held",
	newLeaseId = randomUUID,
	nowMs = () => performance.now(),
}: {
	redis: Pick<PromptRedis, "run">;
	prefix?: string;
	newLeaseId?: () => string;
	nowMs?: () => Milliseconds;
}): HeldCalls {
	const heldHere = new Map<string, number>();
	/** Leases that have ended but whose return Redis has not confirmed, in the order of the attempts. */
	const owed = new Map<string, Lease>();

	/** Returns the name under which Redis stores the leases of the API key. */
	const nameOf = ({ keyId }: Lease) => `${prefix}:${keyId}`;

	function release(keyId: string): void {
		const left = (heldHere.get(keyId) ?? 1) - 1;
		if (left > 0) heldHere.set(keyId, left);
		else heldHere.delete(keyId);
	}

	async function giveBack(lease: Lease): Promise<void> {
		const answer = await redis.run(giveBackScript, [nameOf(lease)], [lease.id]);
		if (answer !== undefined) return;
		for (const [id, { endsAtMs }] of owed) {
			if (endsAtMs > nowMs()) break;
			owed.delete(id);
		}
		owed.set(lease.id, lease);
	}

	function giveBackOwed(): void {
		const leases = [...owed.values()];
		owed.clear();
		for (const lease of leases) if (lease.endsAtMs > nowMs()) void giveBack(lease);
	}

	return {
		async take(keyId, { limit, seconds }) {
			const held = heldHere.get(keyId) ?? 0;
			if (held >= limit) return undefined;
			heldHere.set(keyId, held + 1);
			const livesMs = (seconds + marginSeconds) * 1_000;
			const lease = { id: newLeaseId(), keyId, endsAtMs: nowMs() + livesMs };
			const isGiven = await redis.run(takeScript, [nameOf(lease)], [lease.id, limit, livesMs]);
			if (isGiven !== undefined && owed.size > 0) giveBackOwed();
			if (isGiven === 0) {
				release(keyId);
				return undefined;
			}
			return () => {
				release(lease.keyId);
				// A `take` that Redis answered too late may also have created a lease.
				void giveBack(lease);
			};
		},
	};
}
