import type { ChainDeployment } from "@geoswap/protocol";
import type { Address } from "viem";

/** Every contract on this chain that an order of ours can name, those of before included. */
export function ourContracts({ contracts }: ChainDeployment): { escrows: Address[]; vaults: Address[] } {
	return {
		escrows: [contracts.escrow, ...contracts.earlierEscrows],
		vaults: [contracts.vault, ...contracts.earlierVaults],
	};
}
