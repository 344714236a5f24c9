import type { Authorization } from "@geoswap/protocol";

/** An authorization as it goes into a transaction. */
export function signedAuthorization({ chainId, nonce, yParity, ...authorization }: Authorization) {
	return {
		...authorization,
		chainId: Number(chainId),
		nonce: Number(nonce),
		yParity: Number(yParity),
	};
}
