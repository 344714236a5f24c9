import type { StoredLimits } from "../../api/key/api-key-record.ts";
import { type Operation, operations } from "../../api/key/operations.ts";
import { ConfigError } from "../../config/config-error.ts";

export type LimitOptions = {
	/** Each as `quote=100`, per second, or `quote=default`. */
	rate?: readonly string[] | undefined;
	/** A number, or `default`. */
	held?: string | undefined;
};

/** Returns a key's limits with the named ones changed. `default` restores the configured limit. */
export function changeLimits(limits: StoredLimits, { rate = [], held }: LimitOptions): StoredLimits {
	const rates = new Map(Object.entries(limits.rates ?? {}));
	for (const [operation, perSecond] of rate.map(parseRate)) {
		if (perSecond === undefined) rates.delete(operation);
		else rates.set(operation, perSecond);
	}
	const heldStatusCalls = held === undefined ? limits.heldStatusCalls : parseHeld(held);
	return {
		...(rates.size > 0 && { rates: Object.fromEntries(rates) }),
		...(heldStatusCalls !== undefined && { heldStatusCalls }),
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
