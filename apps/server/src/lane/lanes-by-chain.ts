import { solanaChainId } from "@geoswap/protocol";
import type { ObjectExecution } from "../durable/durable.ts";

/** All lanes as the one object that the engine knows: a key begins with the chain. */
export function lanesByChain({
	evm,
	solana,
}: {
	evm: ObjectExecution;
	/** Absent where Solana is not offered. */
	solana?: ObjectExecution | undefined;
}): ObjectExecution {
	return (durable, key) => {
		const lane = solana && key.startsWith(`${solanaChainId}:`) ? solana : evm;
		return lane(durable, key);
	};
}
