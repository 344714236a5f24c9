import type { Milliseconds } from "@geoswap/protocol";
import type { Signers } from "./open-signers.ts";

const hourMs: Milliseconds = 3_600_000;

/**
 * Warns now and every hour while keys of real chains are in the environment, so that operators do not get used to
 * that.
 */
export function warnOfPlainKeys(
	{ plainOnRealChains }: Pick<Signers, "plainOnRealChains">,
	{
		signal,
		log,
	}: { signal: AbortSignal; log: { warn: (fields: { variables: string[] }, message: string) => void } },
): void {
	if (plainOnRealChains.size === 0) return;
	const variables = [...plainOnRealChains];
	const warn = () =>
		log.warn(
			{ variables },
			"private keys are in the environment, where any reader of this process gets them",
		);
	warn();
	const timer = setInterval(warn, hourMs);
	timer.unref();
	signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}
