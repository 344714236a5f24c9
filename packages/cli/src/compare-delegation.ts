import type { DelegationResponse, Deployment } from "@geoswap/protocol";
import { VerificationError } from "@geoswap/sdk";

/** Returns the delegate that the wallet has, or would be asked to authorize. Throws if it is not pinned. */
export function compareDelegation(
	pins: Deployment,
	chainId: number,
	{ originReady, delegatedTo, delegationTarget }: DelegationResponse,
): { delegate: string } {
	const contracts = pins.chains.find((chain) => chain.chainId === chainId)?.contracts;
	const named = originReady ? delegatedTo : delegationTarget;
	const pinned = [contracts?.delegate, ...(originReady ? (contracts?.earlierDelegates ?? []) : [])];
	const delegate = pinned.find((one) => one?.toLowerCase() === named?.toLowerCase());
	if (delegate !== undefined) return { delegate };
	throw new VerificationError({
		field: originReady ? "delegatedTo" : "delegationTarget",
		expected: pinned.join(" or "),
		actual: named,
	});
}
