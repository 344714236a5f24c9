import type { AuthorizationBody, Deployment } from "@geoswap/protocol";
import type { Address } from "viem";
import type { Client } from "./create-client.ts";
import { docsUrl } from "./docs-url.ts";
import type { EvmAccount } from "./evm-account.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { getDelegation } from "./get-delegation.ts";
import { pinnedChain } from "./pinned-chain.ts";
import { sendAgain } from "./send-again.ts";
import { signAuthorization } from "./sign-authorization.ts";
import { VerificationError } from "./verification-error.ts";

/** Maximum number of other transactions that a busy wallet is expected to send between two attempts. */
const maxNoncesAhead = 64;
/** Maximum number of the wallet's latest transactions that the service's node may not have yet, if it is behind. */
const maxNoncesBehind = 3;

export type DelegateOption = {
	/**
	 * `typed-only` delegates the wallet to the account that accepts orders as typed data only, and refuses them as 32
	 * bytes, which a user cannot read. The next swap replaces the delegate of a wallet that has the other account. By
	 * default, the wallet keeps its account, or gets the one that accepts both if it has none.
	 */
	delegate?: "typed-only" | undefined;
};

/**
 * Returns the EIP-7702 authorization that `buildOp` needs for a wallet's first swap from a chain, to replace an earlier
 * delegate, or to give the wallet the delegate for typed data only. Returns undefined if the wallet needs none. A
 * delegate's code can do anything with the wallet, so the chain id and the delegate come from the caller, never from
 * the service's response. Only the nonce comes from the response.
 */
export async function signDelegation(
	client: Client,
	{
		chainId,
		account,
		pins,
		delegate: chosen,
		refusedNonce,
		spend,
		signal,
	}: DelegateOption & {
		chainId: number;
		account: Pick<EvmAccount, "address" | "signAuthorization" | "sign">;
		pins: Deployment;
		/** The nonce of the last authorization, if the service refused it as out of date. */
		refusedNonce?: number | undefined;
		/** The token and the amount that the wallet must hold. If it holds less, nothing is signed (`INSUFFICIENT_BALANCE`). */
		spend?: { token: string; amount: bigint } | undefined;
		signal?: AbortSignal | undefined;
	},
): Promise<AuthorizationBody | undefined> {
	const { delegate, typedDelegate, earlierDelegates } = pinnedChain(pins, {
		field: "chainId",
		chainId,
	}).contracts;
	const walletAddress = account.address;
	const ask = () => getDelegation(client, { chainId, walletAddress, token: spend?.token, signal });
	const state = await sendAgain(ask, { signal });
	const target = chosen === "typed-only" ? typedDelegate : delegate;
	if (state.originReady) {
		const has = expectOneOf("delegatedTo", [delegate, typedDelegate], state.delegatedTo);
		// The wallet needs no authorization to swap from this chain, unless it is to have the other delegate.
		if (chosen === undefined || has === target) return undefined;
	}
	if (state.blocked !== undefined) {
		throw new GeoswapError(
			`${account.address} is delegated to another provider or is a contract on chain ${chainId}. Use a different wallet on this chain.`,
			{
				code: state.blocked,
				next: "use_other_wallet",
				retryable: false,
				docs: docsUrl(client, state.blocked),
				details: state.delegatedTo === undefined ? {} : { delegatedTo: state.delegatedTo },
			},
		);
	}
	if (!state.originReady) {
		// Only a delegation to an earlier contract of the service is replaced.
		if (state.delegated) expectOneOf("delegatedTo", earlierDelegates, state.delegatedTo);
		expectOneOf("delegationTarget", [delegate], state.delegationTarget);
		if (target === typedDelegate)
			expectOneOf("typedDelegationTarget", [typedDelegate], state.typedDelegationTarget);
	}
	if (spend && state.balance !== undefined && state.balance < spend.amount) {
		const [balance, required] = [String(state.balance), String(spend.amount)];
		throw new GeoswapError(
			`Nothing was signed, because ${walletAddress} holds ${balance} of the swap's input of ${required}. Fund it, or swap less.`,
			{
				code: "INSUFFICIENT_BALANCE",
				next: "fund_wallet",
				retryable: true,
				docs: docsUrl(client, "INSUFFICIENT_BALANCE"),
				details: { balance, required },
			},
		);
	}
	const { accountNonce: nonce } = state;
	if (nonce === undefined || !Number.isSafeInteger(nonce) || nonce < 0) {
		throw new VerificationError({ field: "accountNonce", expected: "a nonce", actual: nonce });
	}
	// An authorization for a nonce that the wallet has not reached becomes valid later, even if the wallet has revoked
	// its delegation by then. The first nonce cannot be checked without a node. That is harmless as long as the pinned
	// delegate is, because the authorization is for that delegate and this chain only. Later nonces must be near the
	// refused one, so that a service cannot collect authorizations for many nonces by refusing each.
	const ahead = refusedNonce === undefined ? 0 : nonce - refusedNonce;
	if (ahead > maxNoncesAhead || -ahead > maxNoncesBehind) {
		throw new VerificationError({
			field: "accountNonce",
			expected: `close to ${refusedNonce}`,
			actual: nonce,
		});
	}
	// The caller's chain id is signed, because an authorization for chain id 0 would be valid on every chain.
	return signAuthorization(account, { chainId, address: target, nonce, signal });
}

function expectOneOf(field: string, expected: Address[], actual: string | undefined): Address {
	const found = expected.find((one) => one.toLowerCase() === actual?.toLowerCase());
	if (found) return found;
	throw new VerificationError({ field, expected: expected.join(" or "), actual });
}
