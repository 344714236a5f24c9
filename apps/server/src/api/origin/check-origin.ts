import { type Authorization, fromWord } from "@geoswap/protocol";
import type { Address } from "viem";
import { checkDelegation } from "../../chain/evm/wallet/check-delegation.ts";
import { checkBalance } from "./check-balance.ts";
import type { OriginReading } from "./read-origin.ts";

/** Throws if the wallet could not open the order; otherwise returns the delegate with which it would pay. */
export async function checkOrigin(
	{ chain, order, authorization, reading, readNonces }: OriginReading,
	{ targets }: { targets: readonly [Address, ...Address[]] },
): Promise<{ delegate: Address; authorization?: Authorization }> {
	const delegation = await checkDelegation({
		chain,
		wallet: fromWord(order.wallet),
		delegation: reading.delegation,
		targets,
		authorization,
		readNonces,
	});
	checkBalance(order, reading.available);
	return delegation;
}
