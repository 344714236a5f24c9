import { type Order, packDeadlines, type SwapUuid, toSwapKey, toWord } from "@geoswap/protocol";
import type { ResolvedRequest } from "./resolve-request.ts";

/** The order of a quote: all its terms, fixed now. */
export function deskOrder(
	{ origin, destination, wallet, recipient, amount }: ResolvedRequest,
	{ uuid, issuedAtMs, minOutput }: { uuid: SwapUuid; issuedAtMs: number; minOutput: bigint },
): Order {
	const [from, to] = [origin.chain, destination.chain];
	const openDeadline = BigInt(Math.floor(issuedAtMs / 1_000) + from.openSeconds);
	// Each chain asks for the time that it needs itself: the slower one decides.
	const fillDeadline = openDeadline + BigInt(Math.max(from.fillSeconds, to.fillSeconds));
	const refundAfter = fillDeadline + BigInt(Math.max(from.refundSeconds, to.refundSeconds));
	return {
		originChainId: BigInt(from.chainId),
		destinationChainId: BigInt(to.chainId),
		escrow: toWord(from.deployment.contracts.escrow),
		originVault: toWord(from.deployment.contracts.vault),
		destinationVault: toWord(to.deployment.contracts.vault),
		attesterSet: from.deployment.attesterSet.hash,
		wallet: toWord(wallet),
		inputToken: toWord(origin.asset.address),
		inputAmount: amount,
		outputToken: toWord(destination.asset.address),
		minOutput,
		recipient: toWord(recipient),
		swapKey: toSwapKey(uuid),
		deadlines: packDeadlines({ openDeadline, fillDeadline, refundAfter }),
	};
}
