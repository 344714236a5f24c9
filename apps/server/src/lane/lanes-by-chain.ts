import { solanaChainId } from "@geoswap/protocol";
import type { Pump } from "../durable/durable.ts";

/** Combines all lanes into the one object that the engine knows: a key begins with the chain's id. */
export function lanesByChain({
	evm,
	solana,
}: {
	evm: Pump;
	/** Absent if Solana is not offered. */
	solana?: Pump | undefined;
}): Pump {
	return (key) => {
		const lane = solana && key.startsWith(`${solanaChainId}:`) ? solana : evm;
		return lane(key);
	};
}
