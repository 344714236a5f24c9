import type { Address } from "viem";
import type { ChainDeployment } from "../deployment.ts";

/** Returns every escrow and vault on this chain that an order of the service can name, including earlier ones. */
export function ourContracts({ contracts }: ChainDeployment): { escrows: Address[]; vaults: Address[] } {
	return {
		escrows: [contracts.escrow, ...contracts.earlierEscrows],
		vaults: [contracts.vault, ...contracts.earlierVaults],
	};
}
