import type { Authorization } from "@geoswap/protocol";

/** Converts an authorization to the form that goes into a transaction. */
export function signedAuthorization({ chainId, nonce, yParity, ...authorization }: Authorization) {
	return {
		...authorization,
		chainId: Number(chainId),
		nonce: Number(nonce),
		yParity: Number(yParity),
	};
}
