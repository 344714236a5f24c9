import { GeoswapError } from "./geoswap-error.ts";

/** The wallet's own answer, or why there is none. A person may take long: a signal ends the waiting for him too. */
export async function signWith<Signed>(
	sign: () => Promise<Signed>,
	{ signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Signed> {
	let onAbort: (() => void) | undefined;
	const aborted = new Promise<never>((_, reject) => {
		onAbort = () => reject(signal?.reason);
		signal?.addEventListener("abort", onAbort, { once: true });
	});
	try {
		signal?.throwIfAborted();
		return await Promise.race([sign(), aborted]);
	} catch (cause) {
		signal?.throwIfAborted();
		throw new GeoswapError(
			`Nothing was sent: the wallet did not sign (${cause instanceof Error ? cause.message : String(cause)}). Ask it again.`,
			{ code: "SIGNER_FAILED", next: "resign", retryable: true, docs: "docs/signing.md", cause },
		);
	} finally {
		if (onAbort) signal?.removeEventListener("abort", onAbort);
	}
}

/** Of an answer that is no signature of the wallet's: it is not sent, and so nobody has to wait until it expires. */
export function notItsSignature(address: string, cause?: unknown): GeoswapError {
	return new GeoswapError(
		`Nothing was sent: what the wallet gave is not the signature of ${address} over what was built. Ask it again, or use another.`,
		{ code: "INVALID_SIGNATURE", next: "resign", retryable: false, docs: "docs/signing.md", cause },
	);
}
