import { fromWord, geoVaultAbi, isSolana } from "@geoswap/protocol";
import { multicall3Abi } from "viem";
import type { Closing } from "../policy/expect-one-end.ts";
import type { DeliveryPlace } from "../policy/judgement.ts";
import { Refusal, refuse } from "../policy/refusal.ts";
import { type EvmNode, multicall3Address } from "../read/evm-node.ts";
import { readRecordAccount, type SolanaNode } from "../read/solana-node.ts";

/** Reads whether an order can still be delivered. Throws a `Refusal` if it was delivered. */
export type ReadClosing = (place: DeliveryPlace) => Promise<Closing>;

const vaultState = { none: 0, filled: 1, voided: 2 } as const;

/** The program keeps a record for this long after `refundAfter`. */
const recordMarginSeconds = 86_400;

/**
 * Creates the check that no delivery can land any more, from the signer's own nodes and at finality, as attesters check
 * it. Each response has a fixed size, regardless of what a block contains.
 */
export function createClosings({
	chains,
	solana,
}: {
	chains: ReadonlyMap<number, EvmNode>;
	solana: SolanaNode | undefined;
}): ReadClosing {
	return async (place) => {
		try {
			return isSolana(place.chainId) ? await readRecord(place) : await readVault(place);
		} catch (error) {
			if (error instanceof Refusal) throw error;
			return open(`a chain does not answer the signer: ${shortMessage(error)}`);
		}
	};

	async function readVault({ orderId, chainId, vault, fillDeadline }: DeliveryPlace): Promise<Closing> {
		const chain = chains.get(chainId);
		if (!chain) return open(`the signer has no node of chain ${chainId}`);
		// One call reads both, so that state and time are of the same block.
		const [state, time] = await chain.client.multicall({
			allowFailure: false,
			batchSize: 0,
			multicallAddress: multicall3Address,
			blockTag: "finalized",
			contracts: [
				{ address: fromWord(vault), abi: geoVaultAbi, functionName: "orderState", args: [orderId] },
				{ address: multicall3Address, abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" },
			],
		});
		if (state === vaultState.filled) refuse("contradicts", "the order was delivered");
		if (state === vaultState.voided || time >= BigInt(fillDeadline)) return { isClosed: true };
		return open(`at the newest final block of chain ${chainId} the order can still be filled`);
	}

	async function readRecord({ orderId, fillDeadline, refundAfter }: DeliveryPlace): Promise<Closing> {
		if (!solana) return open("the signer has no node of Solana");
		// One request reads both, so that record and time are of the same slot.
		const { record, unixSeconds } = await readRecordAccount(solana, orderId);
		if (record?.state === "filled") refuse("contradicts", "the order was delivered");
		if (record) return { isClosed: true };
		if (unixSeconds >= BigInt(refundAfter + recordMarginSeconds))
			return open("the order's record may have been closed, and anyone may refund the order");
		if (unixSeconds >= BigInt(fillDeadline)) return { isClosed: true };
		return open("at the newest final slot of Solana the order can still be filled");
	}
}

function open(why: string): Closing {
	return { isClosed: false, why };
}

/** Returns the first line of an error, because the rest of viem's messages contains the endpoint. */
export function shortMessage(error: unknown): string {
	const { shortMessage: short, message } = error as { shortMessage?: string; message?: string };
	return (short ?? message ?? String(error)).split("\n")[0] ?? "";
}
