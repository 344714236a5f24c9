import { requestChain } from "../../request-chain.ts";
import type { SolanaChain, SolanaCommitment } from "../connect-solana.ts";

/** A slot that has a block, how many blocks there are up to it, and its time in seconds. */
export type Slot = { slot: number; height: number; timestamp: number };

/**
 * Reads the chain's newest final and confirmed slots. The final one is read first; if a node that lags then answers for
 * the confirmed one, the final slot is the newest that is known.
 */
export async function readSlots(chain: SolanaChain): Promise<{ finalized: Slot; confirmed: Slot }> {
	const finalized = await readSlot(chain, "finalized");
	const confirmed = await readSlot(chain, "confirmed");
	return { finalized, confirmed: confirmed.slot < finalized.slot ? finalized : confirmed };
}

async function readSlot({ chainId, rpc }: SolanaChain, commitment: SolanaCommitment): Promise<Slot> {
	const { absoluteSlot, blockHeight } = await requestChain(chainId, rpc.getEpochInfo({ commitment }).send());
	const timestamp: bigint | null = await requestChain(chainId, rpc.getBlockTime(absoluteSlot).send());
	if (timestamp === null) throw new Error(`the chain has no time for slot ${absoluteSlot}`);
	return { slot: Number(absoluteSlot), height: Number(blockHeight), timestamp: Number(timestamp) };
}

type RecentBlockhash = {
	blockhash: string;
	/** The last height at which a transaction with it can land. */
	lastValidBlockHeight: bigint;
};

export async function readBlockhash({ chainId, rpc }: SolanaChain): Promise<RecentBlockhash> {
	const { value } = await requestChain(chainId, rpc.getLatestBlockhash({ commitment: "confirmed" }).send());
	return { blockhash: value.blockhash, lastValidBlockHeight: value.lastValidBlockHeight };
}

/** Reads the block height, by which transactions expire. */
export function readHeight(
	{ chainId, rpc }: SolanaChain,
	commitment: "confirmed" | "finalized" = "confirmed",
): Promise<bigint> {
	return requestChain(chainId, rpc.getBlockHeight({ commitment }).send());
}
