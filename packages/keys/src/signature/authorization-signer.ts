import { type Address, concat, type Hex, numberToHex } from "viem";
import { hashAuthorization } from "viem/utils";
import { isLowS } from "./is-low-s.ts";
import { recoverAddress } from "./recover-address.ts";

/**
 * Returns the account that signed an authorization, or undefined if a chain would skip it because its signature is
 * invalid.
 */
export function authorizationSigner({
	chainId,
	address,
	nonce,
	r,
	s,
	yParity,
}: {
	chainId: number;
	address: Address;
	nonce: number;
	r: Hex;
	s: Hex;
	yParity: number;
}): Address | undefined {
	// A chain skips an authorization with a high s, though it recovers.
	if (!isLowS(s) || (yParity !== 0 && yParity !== 1)) return undefined;
	const hash = hashAuthorization({ chainId, address, nonce });
	return recoverAddress({ hash, signature: concat([r, s, numberToHex(27 + yParity, { size: 1 })]) });
}
