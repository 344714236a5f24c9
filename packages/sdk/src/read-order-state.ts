import { fromWord, geoEscrowAbi, geoVaultAbi, type Order, orderId } from "@geoswap/protocol";
import type { PublicClient } from "viem";
import { readContract } from "viem/actions";

const escrowStates = ["none", "opened", "released", "refunded"] as const;
const vaultStates = ["none", "filled", "voided"] as const;

export type EscrowState = (typeof escrowStates)[number];
export type VaultState = (typeof vaultStates)[number];

/** Reads what the order's escrow has recorded about the order. `released` and `refunded` never change again. */
export async function readEscrowState(
	client: PublicClient,
	order: Order,
	at: { blockNumber?: bigint } = {},
): Promise<EscrowState> {
	const functionName = "orderState";
	const address = fromWord(order.escrow);
	const args = [orderId(order)] as const;
	const state = await readContract(client, { address, abi: geoEscrowAbi, functionName, args, ...at });
	return known(escrowStates[state]);
}

/** Reads what the order's vault has recorded about the order. `filled` and `voided` never change again. */
export async function readVaultState(
	client: PublicClient,
	order: Order,
	at: { blockNumber?: bigint } = {},
): Promise<VaultState> {
	const functionName = "orderState";
	const address = fromWord(order.destinationVault);
	const args = [orderId(order)] as const;
	const state = await readContract(client, { address, abi: geoVaultAbi, functionName, args, ...at });
	return known(vaultStates[state]);
}

function known<State>(state: State | undefined): State {
	if (state === undefined) throw new RangeError("the contract returned a state that it does not have");
	return state;
}
