import { setTimeout as sleep } from "node:timers/promises";
import { type Milliseconds, rescaleDown } from "@geoswap/protocol";
import type { Hash } from "viem";
import * as z from "zod";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../telemetry/log.ts";
import type { PythPrice, PythPrices } from "./pyth-prices.ts";

/**
 * Reads Pyth's prices of these ids repeatedly until the signal aborts. Logs when it stops answering, and when it
 * answers again.
 */
export async function keepPyth({
	pyth: { url, pollMs, timeoutMs },
	key,
	ids,
	prices,
	signal,
	log,
}: {
	pyth: Pick<NonNullable<Config["price"]["pyth"]>, "url" | "pollMs" | "timeoutMs">;
	key: string | undefined;
	ids: readonly Hash[];
	prices: Pick<PythPrices, "update">;
	signal: AbortSignal;
	log: Log;
}): Promise<void> {
	let isDown = false;
	while (!signal.aborted && ids.length > 0) {
		try {
			prices.update(await readPyth({ url, ids, key, timeoutMs, signal }));
			if (isDown) log.info({}, "Pyth answers again");
			isDown = false;
		} catch (error) {
			if (!isDown && !signal.aborted) log.warn({ err: error }, "Pyth does not answer; retrying");
			isDown = true;
		}
		await sleep(pollMs, undefined, { signal }).catch(() => {});
	}
}

/**
 * The part of Hermes' answer that is used. Prices are integers, and `expo` is the position of their decimal point.
 */
const answerSchema = z.object({
	parsed: z.array(
		z.object({
			id: z.string().regex(/^[0-9a-f]{64}$/),
			price: z.object({
				price: z.string().regex(/^-?\d{1,30}$/),
				conf: z.string().regex(/^\d{1,30}$/),
				expo: z.int().min(-36).max(18),
				publish_time: z.int().nonnegative(),
			}),
		}),
	),
});

/** Reads the newest prices from Pyth's web service (Hermes), by their ids. An unknown id is omitted. */
export async function readPyth({
	url,
	ids,
	key,
	timeoutMs,
	signal,
}: {
	url: string;
	ids: readonly Hash[];
	/** The API key. Undefined if the service requires none. */
	key: string | undefined;
	timeoutMs: Milliseconds;
	signal: AbortSignal;
}): Promise<Map<Hash, PythPrice>> {
	const query = new URLSearchParams({ parsed: "true", ignore_invalid_price_ids: "true" });
	for (const id of ids) query.append("ids[]", id);
	const response = await fetch(`${url.replace(/\/$/, "")}/v2/updates/price/latest?${query}`, {
		headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
		signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
		// The key must reach no other host.
		redirect: "error",
	});
	if (!response.ok) {
		await response.body?.cancel();
		throw new Error(`Pyth answers with status ${response.status}`);
	}
	const { parsed } = answerSchema.parse(await response.json());
	return new Map(
		parsed.map(({ id, price: { price, conf, expo, publish_time } }) => [
			`0x${id}`,
			{
				usdE18: scaled(BigInt(price), expo),
				confidenceE18: scaled(BigInt(conf), expo),
				publishedAtUnixSeconds: publish_time,
			},
		]),
	);
}

/**
 * Returns the number with 18 decimals. A number that is not positive is returned unchanged, because it is not a
 * price.
 */
function scaled(value: bigint, expo: number): bigint {
	if (value <= 0n) return value;
	return expo > 0 ? value * 10n ** BigInt(18 + expo) : rescaleDown(value, -expo, 18);
}
