import type { KeyBackend } from "./config/key-reference.ts";

/** The key that a signer uses: its reference in the configuration, and the kind of place that holds it. */
export type KeyName = { reference: string; backend: KeyBackend };

/** Thrown by a signer that did not sign. Nothing was signed, so the same payload can be passed to it again. */
export class SignerError extends Error {
	override name = "SignerError";
	readonly key: KeyName;
	/** False if the signer would refuse the same payload again until an operator acts. */
	readonly isRetryable: boolean;
	/** True if the signer works and does not sign this payload for now. It would sign other payloads. */
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

/** Returns true if a signer checked the payload and refused it permanently. A retry would not help. */
export function isRefusedBySigner(error: unknown): error is SignerError {
	return error instanceof SignerError && !error.isRetryable;
}

/** Returns true if a signer checked the payload and may sign it later, regardless of the key. */
export function isDeferredBySigner(error: unknown): error is SignerError {
	return error instanceof SignerError && error.isDeferred;
}
