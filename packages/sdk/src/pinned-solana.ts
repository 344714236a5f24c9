import type { Deployment, SolanaDeployment } from "@geoswap/protocol";
import { VerificationError } from "./verification-error.ts";

/** What the caller has pinned of Solana. Refused where it is not pinned. */
export function pinnedSolana(
	{ solana }: Deployment,
	{ field, chainId }: { field: string; chainId: number },
): SolanaDeployment {
	if (solana?.chainId !== chainId) {
		throw new VerificationError({ field, expected: "a pinned chain (Solana is not)", actual: chainId });
	}
	return solana;
}
