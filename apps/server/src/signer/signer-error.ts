import type { KeyBackend } from "../config/key-reference.ts";

/** The key that a signer uses: its reference in the configuration, and the kind of place that holds it. */
export type KeyName = { reference: string; backend: KeyBackend };

/** A signer that did not sign. Nothing was signed, so the same payload can be given to it again. */
export class SignerError extends Error {
	override name = "SignerError";
	readonly key: KeyName;
	/** False if the signer would refuse the same payload again: a person must act first. */
	readonly isRetryable: boolean;
	/** True if the signer works, and does not sign this payload for now. It would sign others. */
	readonly isDeferred: boolean;

	constructor(
		key: KeyName,
		problem: string,
		options: ErrorOptions & { isRetryable: boolean; isDeferred?: boolean },
	) {
		super(`the key ${key.reference} cannot sign: ${problem}`, options);
		this.key = key;
		this.isRetryable = options.isRetryable;
		this.isDeferred = options.isDeferred ?? false;
	}
}

/** Returns whether a signer judged the payload and refused it for good. To ask again would not help. */
export function isRefusedBySigner(error: unknown): error is SignerError {
	return error instanceof SignerError && !error.isRetryable;
}

/** Returns whether a signer judged the payload and may sign it later, whichever key is asked. */
export function isDeferredBySigner(error: unknown): error is SignerError {
	return error instanceof SignerError && error.isDeferred;
}
