import type { Milliseconds } from "@geoswap/protocol";
import * as z from "zod";
import type { StoredLimits } from "../../api/key/api-key-record.ts";
import { type Operation, operations } from "../../api/key/operations.ts";
import { ConfigError } from "../../config/config-error.ts";

export type LimitOptions = {
	/** Each as `quote=100`, per second, or `quote=default`. */
	rate?: readonly string[] | undefined;
	/** A number, or `default`. */
	held?: string | undefined;
	/** US dollars, `none` or `default`. */
	maxUsdPerDay?: string | undefined;
};

/** Returns a key's limits with the named ones changed. `default` restores the configured limit. */
export function changeLimits(
	limits: StoredLimits,
	{ rate = [], held, maxUsdPerDay: value }: LimitOptions,
): StoredLimits {
	const rates = new Map(Object.entries(limits.rates ?? {}));
	for (const [operation, perSecond] of rate.map(parseRate)) {
		if (perSecond === undefined) rates.delete(operation);
		else rates.set(operation, perSecond);
	}
	const heldStatusCalls = held === undefined ? limits.heldStatusCalls : parseHeld(held);
	const maxUsdPerDay = value === undefined ? limits.maxUsdPerDay : parseMaxUsdPerDay(value);
	return {
		...(rates.size > 0 && { rates: Object.fromEntries(rates) }),
		...(heldStatusCalls !== undefined && { heldStatusCalls }),
		...(maxUsdPerDay !== undefined && { maxUsdPerDay }),
	};
}

function parseRate(text: string): [Operation, number | undefined] {
	const [, name, perSecond] = /^(\w+)=(default|\d{1,6}(?:\.\d{1,6})?)$/.exec(text) ?? [];
	const operation = operations.find((candidate) => candidate === name);
	if (!operation || !(perSecond === "default" || Number(perSecond) > 0)) {
		throw new ConfigError(
			"--rate",
			`"${text}" is not a rate; write one of ${operations.join(", ")}, then = and a number or "default"`,
		);
	}
	return [operation, perSecond === "default" ? undefined : Number(perSecond)];
}

function parseHeld(text: string): number | undefined {
	if (text === "default") return undefined;
	if (!/^[1-9]\d{0,5}$/.test(text)) {
		throw new ConfigError(
			"--held",
			`"${text}" is not a number of held calls; write 1 to 999999, or "default"`,
		);
	}
	return Number(text);
}

/** Returns null if the value is not to be limited, and undefined if the configured limit is to apply. */
function parseMaxUsdPerDay(text: string): number | null | undefined {
	if (text === "default") return undefined;
	if (text === "none") return null;
	if (!/^\d{1,12}(\.\d{1,2})?$/.test(text)) {
		throw new ConfigError(
			"--max-usd-per-day",
			`"${text}" is not an amount of US dollars; write one as 50000, or "none" or "default"`,
		);
	}
	return Number(text);
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const maxDurationMs = 3_650 * 86_400_000;
const timeSchema = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** Parses `24h`, `90d`, `0s`. */
export function parseDuration(option: string, text: string): number {
	const [, count, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
	const durationMs = Number(count) * (unitMs[unit] ?? Number.NaN);
	if (!(durationMs <= maxDurationMs)) {
		throw new ConfigError(
			option,
			`"${text}" is not a duration; write a number and s, m, h or d, as 24h; ten years at most`,
		);
	}
	return durationMs;
}

/** Parses a time in the future: `2027-01-31`, `2027-01-31T12:00:00Z`. */
export function parseTime(option: string, text: string, { nowMs }: { nowMs: Milliseconds }): Date {
	if (!timeSchema.safeParse(text).success) {
		throw new ConfigError(option, `"${text}" is not a time; write 2027-01-31 or 2027-01-31T12:00:00Z`);
	}
	const time = new Date(text);
	if (time.getTime() <= nowMs) {
		throw new ConfigError(option, `${text} is in the past; to end a key now, use geoswapd keys revoke`);
	}
	return time;
}

/** Parses a duration, `90d`, into the time at its end. */
export function parseTimeIn(option: string, text: string, { nowMs }: { nowMs: Milliseconds }): Date {
	const durationMs = parseDuration(option, text);
	if (durationMs === 0) {
		throw new ConfigError(option, `${text} is zero; to end a key now, use geoswapd keys revoke`);
	}
	return new Date(nowMs + durationMs);
}

/** Parses a duration, a time, or `never`, which is undefined. */
export function parseExpiry(
	option: string,
	text: string,
	{ nowMs }: { nowMs: Milliseconds },
): Date | undefined {
	if (text === "never") return undefined;
	if (text.includes("-")) return parseTime(option, text, { nowMs });
	return parseTimeIn(option, text, { nowMs });
}
