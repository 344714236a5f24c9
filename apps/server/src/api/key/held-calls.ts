import { randomUUID } from "node:crypto";
import type { PromptRedis, Script } from "./prompt-redis.ts";

/** How many calls of a key are held open, over all processes. */
export type HeldCalls = {
	/** Gives the right to hold a call for so long, and how to give it back; undefined where the key holds as many as it may. */
	take(keyId: string, allowance: { limit: number; seconds: number }): Promise<(() => void) | undefined>;
};

/** Leases of a key by when they end: those of a process that died end by themselves. */
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
	/** When Redis forgets it by itself, or a moment before. */
	endsAtMs: number;
};

/** A lease outlives its call by this much: reading the swap and answering take time too. */
const marginSeconds = 5;

/** Where Redis does not answer at once, each process counts its own, and gives its leases back once it answers again. */
export function createHeldCalls({
	redis,
	prefix = "geoswap:held",
	newLeaseId = randomUUID,
	nowMs = () => performance.now(),
}: {
	redis: Pick<PromptRedis, "run">;
	prefix?: string;
	newLeaseId?: () => string;
	nowMs?: () => number;
}): HeldCalls {
	const heldHere = new Map<string, number>();
	/** Leases that Redis has not heard of the end of, in the order in which they were tried to give back. */
	const owed = new Map<string, Lease>();

	/** The name under which Redis has the leases of its key. */
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
				// An answer that came too late may have left one too.
				void giveBack(lease);
			};
		},
	};
}
