import { GeoswapError } from "./geoswap-error.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** Returns the wallet's result, or throws why there is none. A user may take long, so the signal ends that too. */
export async function signWith<Signed>(
	sign: () => Promise<Signed>,
	{ signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Signed> {
	try {
		return await unlessAborted(sign, signal);
	} catch (cause) {
		signal?.throwIfAborted();
		throw new GeoswapError(
			`Nothing was sent, because the wallet did not sign (${cause instanceof Error ? cause.message : String(cause)}). Try again.`,
			{ code: "SIGNER_FAILED", next: "resign", retryable: true, docs: "/docs/signing.md", cause },
		);
	}
}

/** Returns the error for a result that is not the wallet's signature. It is not sent, so its expiry is irrelevant. */
export function notItsSignature(address: string, cause?: unknown): GeoswapError {
	return new GeoswapError(
		`Nothing was sent, because the wallet did not return the signature of ${address} over what was built. Try again, or use another wallet.`,
		{ code: "INVALID_SIGNATURE", next: "resign", retryable: false, docs: "/docs/signing.md", cause },
	);
}
