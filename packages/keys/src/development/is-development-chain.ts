import { createHash } from "node:crypto";
import { getBase58Decoder } from "@solana/kit";

/** The chains that exist on one machine only. */
const developmentChainIds: readonly number[] = [31337, 31338, 31339];

/** The genesis hash of the devnet's Solana cluster, which exists on one machine only. */
const developmentGenesisHash: string = getBase58Decoder().decode(
	createHash("sha256").update("geoswap devnet: Solana").digest(),
);

export function isDevelopmentChain(chainId: number): boolean {
	return developmentChainIds.includes(chainId);
}

export function isDevelopmentCluster({ genesisHash }: { genesisHash: string }): boolean {
	return genesisHash === developmentGenesisHash;
}
