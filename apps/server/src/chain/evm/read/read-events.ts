import type { Hash } from "viem";
import type { EvmChain } from "../chain-client.ts";
import { ourContracts } from "../our-contracts.ts";
import { type ContractEvent, decodeEvents } from "./decode-events.ts";

/** Reads the events of our contracts in one block, by its hash: a range could be answered from another fork. */
export async function readEvents(
	{ client, deployment }: EvmChain,
	{ blockHash }: { blockHash: Hash },
): Promise<ContractEvent[]> {
	const { escrows, vaults } = ourContracts(deployment);
	return decodeEvents(deployment, await client.getLogs({ blockHash, address: [...escrows, ...vaults] }));
}
