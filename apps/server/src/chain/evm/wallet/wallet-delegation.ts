import type { ChainDeployment } from "@geoswap/protocol";
import { type Address, getAddress, type Hex, size, slice } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";

/** The delegation of a wallet, from its code on one chain. */
export type WalletDelegation =
	| { kind: "none" }
	/** Delegated to one of the two delegates that are offered now. */
	| { kind: "ours"; delegate: Address }
	/** Delegated to one that was offered before. That one pays another escrow, so the wallet must delegate again. */
	| { kind: "earlier"; delegate: Address }
	| { kind: "other"; delegate: Address }
	/** The address is a contract, so no key signs for it as for a wallet. */
	| { kind: "contract" };

/** EIP-7702: a delegated account's code is this, then the delegate's address. */
export const delegationPrefix = "0xef0100";

export type Delegates = Pick<ChainDeployment["contracts"], "delegate" | "typedDelegate" | "earlierDelegates">;

export function walletDelegation(
	code: Hex | undefined,
	{ delegate, typedDelegate, earlierDelegates }: Delegates,
): WalletDelegation {
	if (code === undefined || code === "0x") return { kind: "none" };
	if (size(code) !== 23 || !code.toLowerCase().startsWith(delegationPrefix)) return { kind: "contract" };
	const delegated = getAddress(slice(code, 3));
	if ([delegate, typedDelegate].includes(delegated)) return { kind: "ours", delegate: delegated };
	return { kind: earlierDelegates.includes(delegated) ? "earlier" : "other", delegate: delegated };
}

/** Reads the wallet's delegation on this chain. */
export async function readDelegation(
	{ chainId, client, deployment }: EvmChain,
	wallet: Address,
): Promise<WalletDelegation> {
	const code = await requestChain(chainId, client.getCode({ address: wallet }));
	return walletDelegation(code, deployment.contracts);
}
