import { setTimeout as sleep } from "node:timers/promises";
import type { Hash } from "viem";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../telemetry/log.ts";
import type { PythPrices } from "./pyth-prices.ts";
import { readPyth } from "./read-pyth.ts";

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
