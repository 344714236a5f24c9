import type { Milliseconds } from "@geoswap/protocol";
import { ConfigError } from "./config/config-error.ts";
import type { EvmSigner, SignOptions, SolanaSigner } from "./signer.ts";
import { type KeyName, SignerError } from "./signer-error.ts";

/**
 * A finished call to a signer. `refused`: the signer checked and refused the payload. `deferred`: the signer may sign
 * it later. `skipped`: the signer was not called.
 */
export type SignerCall = {
	key: KeyName;
	seconds: number;
	outcome: "ok" | "refused" | "deferred" | "failed" | "timeout" | "skipped";
};

export type Guard = {
	timeoutMs: Milliseconds;
	nowMs: () => Milliseconds;
	/** Absent if calls are not counted. */
	onCall?: ((call: SignerCall) => void) | undefined;
};

/** How long a failed signer is not called. The time doubles after each further failure. */
const firstPauseMs = 250;
const maxPauseMs = 5_000;

/**
 * Returns the signer with a limit on how long it may take. After a failure it is not called for a moment, so that a
 * signer that is down or overloaded does not get a call from every run of every lane.
 */
export function guardSigner<Signer extends EvmSigner | SolanaSigner>(signer: Signer, guard: Guard): Signer {
	const sign = signer.sign as (payload: unknown, options?: SignOptions) => Promise<unknown>;
	return { ...signer, sign: guarded(signer.name, sign, guard) };
}

function guarded<Payload, Signature>(
	key: KeyName,
	sign: (payload: Payload, options?: SignOptions) => Promise<Signature>,
	{ timeoutMs, nowMs, onCall }: Guard,
) {
	let failures = 0;
	let failedAtMs = Number.NEGATIVE_INFINITY;
	const pauseMs = () => Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs);
	return async (payload: Payload, { signal, order }: SignOptions = {}): Promise<Signature> => {
		const startMs = nowMs();
		const told = (outcome: SignerCall["outcome"]) =>
			onCall?.({ key, seconds: (nowMs() - startMs) / 1_000, outcome });
		if (failures > 0 && startMs < failedAtMs + pauseMs()) {
			told("skipped");
			const problem = `it failed ${failures} times in a row, and is not asked for ${pauseMs()} ms`;
			throw new SignerError(key, problem, { isRetryable: true });
		}
		try {
			const signature = await withinTime(key, (limit) => sign(payload, { signal: limit, order }), {
				timeoutMs,
				signal,
			});
			failures = 0;
			told("ok");
			return signature;
		} catch (cause) {
			const error = cause instanceof SignerError ? cause : failureOf(key, cause);
			if (!error.isRetryable || error.isDeferred) {
				// The signer works, and only refuses this payload. Other payloads need not wait.
				told(error.isDeferred ? "deferred" : "refused");
				throw error;
			}
			// Calls that began together and fail together count as one failure.
			if (startMs > failedAtMs) {
				failures++;
				failedAtMs = nowMs();
			}
			told(error instanceof SignerTimeoutError ? "timeout" : "failed");
			throw error;
		}
	};
}

class SignerTimeoutError extends SignerError {}

function failureOf(key: KeyName, cause: unknown): SignerError {
	const problem = cause instanceof Error ? cause.message : String(cause);
	return new SignerError(key, problem, { isRetryable: !(cause instanceof ConfigError), cause });
}

/** Ends the wait even if the signer does not watch its signal. */
async function withinTime<T>(
	key: KeyName,
	call: (limit: AbortSignal) => Promise<T>,
	{ timeoutMs, signal }: { timeoutMs: Milliseconds; signal: AbortSignal | undefined },
): Promise<T> {
	const ending = new AbortController();
	const late = new SignerTimeoutError(key, `it did not answer within ${timeoutMs} ms`, { isRetryable: true });
	const timer = setTimeout(() => ending.abort(late), timeoutMs);
	const limit = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
	try {
		limit.throwIfAborted();
		return await Promise.race([
			call(limit),
			new Promise<never>((_, reject) => {
				limit.addEventListener("abort", () => reject(limit.reason), { once: true });
			}),
		]);
	} catch (error) {
		// A backend that watches the signal reports the abort with its own error.
		throw ending.signal.aborted ? late : error;
	} finally {
		clearTimeout(timer);
	}
}
