import { setTimeout as sleep } from "node:timers/promises";
import { maskUrls } from "@geoswap/keys/config/mask-url";
import { ConfigError } from "../../config/config-error.ts";

/** The result of one check of one part of the service. */
export type Finding = { part: string; result: "ok" | "warn" | "fail"; message: string };
export type Found = Omit<Finding, "part">;

const timeoutMs = 5_000;

export const ok = (message: string): Found => ({ result: "ok", message });
/** A warning does not keep the service from starting. */
export const warn = (message: string): Found => ({ result: "warn", message });
export const fail = (message: string): Found => ({ result: "fail", message });

/** More checks at once would take the time of each other on a busy machine, and all of them would be too late. */
const maxAtOnce = 4;
let running = 0;
const waiting: (() => void)[] = [];

/**
 * Runs a check of a part, once few enough others run. A check that throws or takes too long has failed. A check may not
 * wait for another one.
 */
export async function check(part: string, ask: () => Promise<Found | Found[]>): Promise<Finding[]> {
	if (running === maxAtOnce) await new Promise<void>((start) => waiting.push(start));
	else running++;
	const over = new AbortController();
	try {
		const found = await Promise.race([ask(), tooLate(over.signal)]);
		return [found].flat().map((one) => ({ part, ...one }));
	} catch (error) {
		// The finding already has the part's name.
		return [{ part, ...fail(sayWhy(error).replace(`${part}: `, "")) }];
	} finally {
		over.abort();
		const next = waiting.shift();
		if (next) next();
		else running--;
	}
}

async function tooLate(signal: AbortSignal): Promise<never> {
	await sleep(timeoutMs, undefined, { signal });
	throw new Error(`did not answer within ${timeoutMs / 1_000} s`);
}

/**
 * Returns why something failed, without possible secrets, because drivers and endpoints quote addresses and requests.
 */
export function sayWhy(error: unknown): string {
	if (error instanceof ConfigError) return maskUrls(error.message);
	const {
		shortMessage,
		message = String(error),
		code,
		cause,
	} = error as {
		shortMessage?: string;
		message?: string;
		code?: unknown;
		cause?: { code?: unknown };
	};
	const [firstLine = ""] = (shortMessage ?? message).split("\n");
	const reason = [code, cause?.code].find((one) => typeof one === "string");
	const said = maskUrls(firstLine);
	if (reason === undefined || said.includes(String(reason))) return said;
	return said === "" ? String(reason) : `${said} (${reason})`;
}
