import type { Deployment, SolanaDeployment } from "@geoswap/protocol";
import { expectAttesterSet } from "./expect-attester-set.ts";
import { VerificationError } from "./verification-error.ts";

/** Returns the caller's pins of Solana. Throws if it is not pinned, or if its pins are inconsistent. */
export function pinnedSolana(
	{ solana }: Deployment,
	{ field, chainId }: { field: string; chainId: number },
): SolanaDeployment {
	if (solana?.chainId !== chainId) {
		throw new VerificationError({ field, expected: "a pinned chain (Solana is not)", actual: chainId });
	}
	expectAttesterSet(chainId, solana.program.attesterSet);
	return solana;
}
