import type { Deployment, SolanaDeployment } from "@geoswap/protocol";
import { VerificationError } from "./verification-error.ts";

/** Returns the caller's pins of Solana. Throws if it is not pinned. */
export function pinnedSolana(
	{ solana }: Deployment,
	{ field, chainId }: { field: string; chainId: number },
): SolanaDeployment {
	if (solana?.chainId !== chainId) {
		throw new VerificationError({ field, expected: "a pinned chain (Solana is not)", actual: chainId });
	}
	return solana;
}
