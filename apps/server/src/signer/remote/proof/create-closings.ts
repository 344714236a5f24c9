import { geoVaultAbi } from "@geoswap/protocol";
import { multicall3Abi } from "viem";
import { type EvmChain, multicall3Address } from "../../../chain/evm/chain-client.ts";
import type { SolanaChain } from "../../../chain/solana/connect-solana.ts";
import { readMarkerOwners } from "../../../chain/solana/marker/read-markers.ts";
import type { Closing } from "../policy/expect-one-end.ts";
import type { DeliveryPlace } from "../policy/judgement.ts";
import { Refusal, refuse } from "../policy/refusal.ts";

/** Reads whether an order can still be delivered. Throws a `Refusal` if it was. */
export type ReadClosing = (place: DeliveryPlace) => Promise<Closing>;

const vaultState = { none: 0, filled: 1, voided: 2 } as const;

/**
 * Creates the check whether no delivery can land any more, from the signer's own nodes and at finality, as attesters check
 * it. Each answer has one size, whatever a block contains.
 */
export function createClosings({
	chains,
	solana,
}: {
	chains: ReadonlyMap<number, EvmChain>;
	solana: SolanaChain | undefined;
}): ReadClosing {
	return async (place) => {
		try {
			return "marker" in place ? await readMarker(place) : await readVault(place);
		} catch (error) {
			if (error instanceof Refusal) throw error;
			return open(`a chain does not answer the signer: ${shortMessage(error)}`);
		}
	};

	async function readVault({
		orderId,
		chainId,
		vault,
		fillDeadline,
	}: Extract<DeliveryPlace, { vault: unknown }>): Promise<Closing> {
		const chain = chains.get(chainId);
		if (!chain) return open(`the signer has no node of chain ${chainId}`);
		// One call, so that state and time are of the same block.
		const [state, time] = await chain.client.multicall({
			allowFailure: false,
			batchSize: 0,
			blockTag: "finalized",
			contracts: [
				{ address: vault, abi: geoVaultAbi, functionName: "orderState", args: [orderId] },
				{ address: multicall3Address, abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" },
			],
		});
		if (state === vaultState.filled) refuse("contradicts", "the order was delivered");
		if (state === vaultState.voided || time >= BigInt(fillDeadline)) return { isClosed: true };
		return open(`at the newest final block of chain ${chainId} the order can still be filled`);
	}

	async function readMarker({ marker }: Extract<DeliveryPlace, { marker: unknown }>): Promise<Closing> {
		if (!solana) return open("the signer has no node of Solana");
		const [owner] = await readMarkerOwners(solana, { addresses: [marker], commitment: "finalized" });
		if (owner === "vault") refuse("contradicts", "the order was delivered");
		return owner === "escrow" ? { isClosed: true } : open("no final marker on Solana closes the order");
	}
}

function open(why: string): Closing {
	return { isClosed: false, why };
}

/** Returns the first line of an error: the rest of viem's messages contains the endpoint. */
export function shortMessage(error: unknown): string {
	const { shortMessage: short, message } = error as { shortMessage?: string; message?: string };
	return (short ?? message ?? String(error)).split("\n")[0] ?? "";
}
