import { randomBytes } from "node:crypto";
import type { Milliseconds } from "@geoswap/protocol";
import { ConfigError } from "../config/config-error.ts";
import { readConfig } from "../config/read-config.ts";
import { parseSealKeys } from "../config/seal-keys.ts";
import { readOptionalSecret } from "../config/secrets.ts";

/** Time to restart every API process with the new value. */
const defaultLeadMs = 3_600_000;
const dayMs = 86_400_000;

/**
 * Prints the next value of GEOSWAP_SEAL_KEYS, with a new key that begins to seal later, and without keys that no
 * longer open anything. If the variable is not set, the value is a service's first key.
 */
export function sealKeysNextCommand({ config, from }: { config: string; from?: string }): void {
	const { retiredSealKeyDays } = readConfig(config).api;
	const nowMs = Date.now();
	console.log(
		nextSealKeys(readOptionalSecret("GEOSWAP_SEAL_KEYS"), {
			from: from ?? new Date(nowMs + defaultLeadMs).toISOString(),
			openMs: retiredSealKeyDays * dayMs,
			nowMs,
		}),
	);
}

export function nextSealKeys(
	text: string | undefined,
	{ from, openMs, nowMs }: { from: string; openMs: Milliseconds; nowMs: Milliseconds },
): string {
	const secret = randomBytes(32).toString("base64url");
	if (!text) return `first:${secret}`;
	const fromMs = Date.parse(from);
	if (Number.isNaN(fromMs) || fromMs <= nowMs) {
		throw new ConfigError(
			"--from",
			"must be in the future, because processes must have a key before it seals",
		);
	}
	const time = `${new Date(fromMs).toISOString().slice(0, 19)}Z`;
	const next = `${time.replaceAll(/[^0-9]/g, "")}:${secret}@${time}`;
	try {
		const { keys } = parseSealKeys(text, { nowMs: () => nowMs });
		const dead = new Set(
			keys.filter(({ retiredAtMs }) => nowMs > retiredAtMs + openMs).map(({ kid }) => kid),
		);
		const kept = text.split(",").filter((entry) => !dead.has(entry.trim().split(":")[0] ?? ""));
		const value = [next, ...kept].join(",");
		parseSealKeys(value, { nowMs: () => nowMs });
		return value;
	} catch (error) {
		throw new ConfigError("GEOSWAP_SEAL_KEYS", (error as Error).message);
	}
}
