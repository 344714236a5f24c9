import type { DelegationResponse, Deployment } from "@geoswap/protocol";
import { VerificationError } from "@geoswap/sdk";

/** What the wallet is delegated to, or would be asked to delegate to. Whatever is not pinned is refused. */
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
