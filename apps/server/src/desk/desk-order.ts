import {
	type Amount,
	type Milliseconds,
	type Order,
	packDeadlines,
	type SwapUuid,
	toSwapKey,
	wordOfAddress,
} from "@geoswap/protocol";
import type { ResolvedRequest } from "./resolve-request.ts";

/** Returns the order of a quote, with all its terms fixed. */
export function deskOrder(
	{ origin, destination, wallet, recipient, amount }: ResolvedRequest,
	{
		uuid,
		issuedAtMs,
		minOutput,
		topUp,
	}: { uuid: SwapUuid; issuedAtMs: Milliseconds; minOutput: Amount; topUp: Amount },
): Order {
	const [from, to] = [origin.chain, destination.chain];
	const openDeadline = BigInt(Math.floor(issuedAtMs / 1_000) + from.openSeconds);
	// Each chain is configured with the time that it needs. The slower one decides.
	const fillDeadline = openDeadline + BigInt(Math.max(from.fillSeconds, to.fillSeconds));
	const refundAfter = fillDeadline + BigInt(Math.max(from.refundSeconds, to.refundSeconds));
	return {
		wallet: wordOfAddress(from.chainId, wallet),
		inputToken: wordOfAddress(from.chainId, origin.asset.address),
		inputAmount: amount,
		originChainId: BigInt(from.chainId),
		destinationChainId: BigInt(to.chainId),
		outputToken: wordOfAddress(to.chainId, destination.asset.address),
		minOutput,
		recipient: wordOfAddress(to.chainId, recipient),
		topUp,
		escrow: wordOfAddress(from.chainId, from.escrow),
		originVault: wordOfAddress(from.chainId, from.vault),
		destinationVault: wordOfAddress(to.chainId, to.vault),
		attesterSet: from.attesterSet,
		swapKey: toSwapKey(uuid),
		deadlines: packDeadlines({ openDeadline, fillDeadline, refundAfter }),
	};
}
