import type { Deployment } from "@geoswap/protocol";
import { type Delegation, VerificationError } from "@geoswap/sdk";

/** Returns the delegate that the wallet has, or would have to authorize. Throws if it is not pinned. */
export function compareDelegation(
	pins: Deployment,
	chainId: number,
	state: Delegation,
	{ isTypedOnly = false }: { isTypedOnly?: boolean | undefined } = {},
): { delegate: string; isTypedOnly: boolean } {
	const { delegate, typedDelegate } = pins.chains.find((chain) => chain.chainId === chainId)?.contracts ?? {};
	const target = isTypedOnly ? "typedDelegationTarget" : "delegationTarget";
	const field = state.originReady ? "delegatedTo" : target;
	const pinned = state.originReady ? [delegate, typedDelegate] : [isTypedOnly ? typedDelegate : delegate];
	const found = pinned.find((one) => one?.toLowerCase() === state[field]?.toLowerCase());
	if (found !== undefined) return { delegate: found, isTypedOnly: found === typedDelegate };
	throw new VerificationError({ field, expected: pinned.join(" or "), actual: state[field] });
}
