import type { ChainDeployment } from "@geoswap/protocol";
import { type Address, getAddress, type Hex, size, slice } from "viem";

/** The delegation of a wallet, from its code on one chain. */
export type WalletDelegation =
	| { kind: "none" }
	/** Delegated to the delegate that is offered now, or to one that was offered before. */
	| { kind: "ours"; delegate: Address }
	| { kind: "other"; delegate: Address }
	/** The address has code of its own: no key signs for it as for a wallet. */
	| { kind: "contract" };

/** EIP-7702: a delegated account's code is this, then the delegate's address. */
export const delegationPrefix = "0xef0100";

export function walletDelegation(
	code: Hex | undefined,
	{ delegate, earlierDelegates }: Pick<ChainDeployment["contracts"], "delegate" | "earlierDelegates">,
): WalletDelegation {
	if (code === undefined || code === "0x") return { kind: "none" };
	if (size(code) !== 23 || !code.toLowerCase().startsWith(delegationPrefix)) return { kind: "contract" };
	const delegated = getAddress(slice(code, 3));
	const isOurs = [delegate, ...earlierDelegates].includes(delegated);
	return { kind: isOurs ? "ours" : "other", delegate: delegated };
}
