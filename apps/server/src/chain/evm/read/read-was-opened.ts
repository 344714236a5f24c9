import { fromWord, geoEscrowAbi, type Order, orderId } from "@geoswap/protocol";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";

/** Returns whether the order was ever opened, regardless of what happened to it later. */
export async function readWasOpened({ chainId, client }: EvmChain, order: Order): Promise<boolean> {
	const state = await requestChain(
		chainId,
		client.readContract({
			address: fromWord(order.escrow),
			abi: geoEscrowAbi,
			functionName: "orderState",
			args: [orderId(order)],
		}),
	);
	return state !== 0;
}
