import type { Cap } from "./cap.ts";

const hourMinutes = 60;
const dayMinutes = 24 * 60;

/** The amounts of one meter by minute. */
export type Spending = {
	/** Returns the sums of the last hour and the last day. */
	sums: (minute: number) => { hour: bigint; day: bigint };
	add: (minute: number, amount: bigint) => void;
};

/**
 * Creates the sums of one meter. A window is made of whole minutes and the current one, so that it is up to a minute
 * longer than an hour or a day, never shorter.
 */
export function createSpending(known: Iterable<readonly [minute: number, amount: bigint]> = []): Spending {
	const minutes = new Map(known);
	const sum = (from: number, now: number) => {
		let total = 0n;
		// Minutes ahead of a clock that was set back count too.
		for (const [minute, amount] of minutes) if (minute >= from || minute > now) total += amount;
		return total;
	};
	return {
		sums: (now) => ({ hour: sum(now - hourMinutes, now), day: sum(now - dayMinutes, now) }),
		add: (minute, amount) => {
			minutes.set(minute, (minutes.get(minute) ?? 0n) + amount);
			for (const old of minutes.keys()) if (old < minute - dayMinutes) minutes.delete(old);
		},
	};
}

/** Returns which window an amount would exceed; undefined if it fits. */
export function exceededWindow(
	{ hour, day }: { hour: bigint; day: bigint },
	{ amount, cap }: { amount: bigint; cap: Cap },
): "hour" | "day" | undefined {
	if (hour + amount > cap.perHour) return "hour";
	return day + amount > cap.perDay ? "day" : undefined;
}
