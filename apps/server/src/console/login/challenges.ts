import type { Milliseconds } from "@geoswap/protocol";

/** The random numbers that authenticators are asked to sign. Each is used once, within a few minutes. */
export type Challenges = {
	add(challenge: string): void;
	/** Uses a challenge up. Returns false if it is unknown, used or too old. */
	take(challenge: string): boolean;
};

/** Time that a person has to touch the authenticator. */
const lifetimeMs = 5 * 60_000;
/** Anyone who reaches the login page can ask for challenges: beyond this the oldest is forgotten. */
const most = 1_000;

/** Keeps challenges in memory: after a restart, a person who was about to log in clicks again. */
export function createChallenges({ nowMs }: { nowMs: () => Milliseconds }): Challenges {
	const addedAtMs = new Map<string, Milliseconds>();
	return {
		add(challenge) {
			addedAtMs.set(challenge, nowMs());
			for (const oldest of addedAtMs.keys()) {
				if (addedAtMs.size <= most) break;
				addedAtMs.delete(oldest);
			}
		},
		take(challenge) {
			const at = addedAtMs.get(challenge);
			addedAtMs.delete(challenge);
			return at !== undefined && nowMs() - at < lifetimeMs;
		},
	};
}
