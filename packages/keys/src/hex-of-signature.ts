import type { Hex } from "viem";
import type { EvmSignature } from "./signer.ts";

/** Returns the signature as the 65 bytes that contracts accept. */
export function hexOfSignature({ r, s, yParity }: EvmSignature): Hex {
	return `${r}${s.slice(2)}${yParity === 0 ? "1b" : "1c"}`;
}
