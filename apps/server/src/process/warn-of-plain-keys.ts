import type { Milliseconds } from "@geoswap/protocol";
import type { Signers } from "../signer/open-signers.ts";
import type { Log } from "../telemetry/log.ts";

const hourMs: Milliseconds = 3_600_000;

/**
 * Warns now and every hour while keys of real chains are in the environment, so that operators do not get used to
 * that.
 */
export function warnOfPlainKeys(
	{ plainOnRealChains }: Pick<Signers, "plainOnRealChains">,
	{ signal, log }: { signal: AbortSignal; log: Log },
): void {
	if (plainOnRealChains.size === 0) return;
	const variables = [...plainOnRealChains];
	const warn = () =>
		log.warn({ variables }, "private keys are in the environment: whoever reads this process gets them");
	warn();
	const timer = setInterval(warn, hourMs);
	timer.unref();
	signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}
