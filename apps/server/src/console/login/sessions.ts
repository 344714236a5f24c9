import { createHash } from "node:crypto";
import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import type { Operator } from "./operators.ts";

/** How long a session lasts without a request, and at most. */
export type SessionLimits = { idleMs: Milliseconds; maxMs: Milliseconds };

/** A session that is used every second need not be written every second. */
const touchEveryMs = 60_000;

/** Begins a session and removes those that have ended. */
export async function beginSession(
	db: Database,
	{
		token,
		operatorId,
		limits,
		nowMs,
	}: { token: string; operatorId: string; limits: SessionLimits; nowMs: Milliseconds },
): Promise<void> {
	await db.query(
		"delete from console_sessions where created_at <= to_timestamp($1::double precision / 1000)",
		[nowMs - limits.maxMs],
	);
	await db.query(
		`insert into console_sessions (token_hash, operator_id, created_at, last_seen_at)
		values ($1, $2, to_timestamp($3::double precision / 1000), to_timestamp($3::double precision / 1000))`,
		[hashToken(token), operatorId, nowMs],
	);
}

/**
 * Returns the operator who is logged in with this token, or undefined if the session is unknown or has ended. A page
 * that refreshes itself does not count as activity.
 */
export async function readSession(
	db: Database,
	{
		token,
		isRefresh,
		limits,
		nowMs,
	}: { token: string; isRefresh: boolean; limits: SessionLimits; nowMs: Milliseconds },
): Promise<Operator | undefined> {
	const { rows } = await db.query<Operator & { createdAt: Date; lastSeenAt: Date }>(
		`select o.id, o.name, s.created_at as "createdAt", s.last_seen_at as "lastSeenAt"
		from console_sessions s join console_operators o on o.id = s.operator_id where s.token_hash = $1`,
		[hashToken(token)],
	);
	const [session] = rows;
	if (!session) return undefined;
	const idleMs = nowMs - session.lastSeenAt.getTime();
	if (idleMs >= limits.idleMs || nowMs - session.createdAt.getTime() >= limits.maxMs) return undefined;
	if (!isRefresh && idleMs >= Math.min(touchEveryMs, limits.idleMs / 2)) {
		await db.query(
			"update console_sessions set last_seen_at = to_timestamp($2::double precision / 1000) where token_hash = $1",
			[hashToken(token), nowMs],
		);
	}
	return { id: session.id, name: session.name };
}

export async function endSession(db: Database, token: string): Promise<void> {
	await db.query("delete from console_sessions where token_hash = $1", [hashToken(token)]);
}

/** Returns the stored form of a token with 32 random bytes. A copy of the database is not enough to log in. */
export function hashToken(token: string): Buffer {
	return createHash("sha256").update(token).digest();
}

/**
 * Returns the token that a session's forms contain. Other sites cannot know it, since they cannot read the cookie.
 */
export function formTokenOf(sessionToken: string): string {
	return createHash("sha256").update(`form ${sessionToken}`).digest("base64url");
}
