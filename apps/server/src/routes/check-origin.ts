import { type Authorization, fromWord, SwapError } from "@geoswap/protocol";
import type { Address } from "viem";
import { checkDelegation } from "../chain/evm/check-delegation.ts";
import type { OriginReading } from "./read-origin.ts";

/** Throws where the wallet could not open the order; else says under which delegate it would. */
export async function checkOrigin(
	{ chain, order, authorization, reading, readNonces }: OriginReading,
	{ target }: { target: Address },
): Promise<{ delegate: Address; authorization?: Authorization }> {
	const delegation = await checkDelegation({
		chain,
		wallet: fromWord(order.wallet),
		delegation: reading.delegation,
		target,
		authorization,
		readNonces,
	});
	if (reading.available < order.inputAmount) {
		throw new SwapError("INSUFFICIENT_BALANCE", {
			balance: String(reading.available),
			required: String(order.inputAmount),
		});
	}
	return delegation;
}
