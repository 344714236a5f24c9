import type { AuthorizationBody, Deployment } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { docsUrl } from "./docs-url.ts";
import type { EvmAccount } from "./evm-account.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { getDelegation } from "./get-delegation.ts";
import { pinnedChain } from "./pinned-chain.ts";
import { sendAgain } from "./send-again.ts";
import { signWith } from "./sign-with.ts";
import { VerificationError } from "./verification-error.ts";

/** The most transactions of its own that a busy wallet may make between two attempts. */
const mostNoncesAhead = 64;
/** The node that the service asks next may be some blocks behind. */
const mostNoncesBehind = 3;

/**
 * Returns the authorization that a wallet's first build on a chain needs, or undefined if it needs none. A delegate
 * can do anything with the wallet, so only the pinned one is ever signed for.
 */
export async function signDelegation(
	client: Client,
	{
		chainId,
		account,
		pins,
		refusedNonce,
		signal,
	}: {
		chainId: number;
		account: Pick<EvmAccount, "address" | "signAuthorization">;
		pins: Deployment;
		/** The nonce of an authorization that was signed a moment ago and is no longer valid. */
		refusedNonce?: number | undefined;
		signal?: AbortSignal | undefined;
	},
): Promise<AuthorizationBody | undefined> {
	const { delegate, earlierDelegates } = pinnedChain(pins, { field: "chainId", chainId }).contracts;
	const ask = () => getDelegation(client, { chainId, walletAddress: account.address, signal });
	const state = await sendAgain(ask, { signal });
	if (state.originReady) {
		expectOneOf("delegatedTo", [delegate, ...earlierDelegates], state.delegatedTo);
		return undefined;
	}
	if (state.blocked !== undefined) {
		throw new GeoswapError(
			`${account.address} is delegated to another provider or is a contract on chain ${chainId}. Use a different wallet on this chain.`,
			{
				code: state.blocked,
				next: "use_other_wallet",
				retryable: false,
				docs: docsUrl(client, state.blocked),
				details: { delegatedTo: state.delegatedTo },
			},
		);
	}
	expectOneOf("delegationTarget", [delegate], state.delegationTarget);
	const { accountNonce: nonce } = state;
	if (nonce === undefined || !Number.isSafeInteger(nonce) || nonce < 0) {
		throw new VerificationError({ field: "accountNonce", expected: "a nonce", actual: nonce });
	}
	// An authorization for a nonce ahead becomes valid later: a service could ask for many and store them.
	const ahead = refusedNonce === undefined ? 0 : nonce - refusedNonce;
	if (ahead > mostNoncesAhead || -ahead > mostNoncesBehind) {
		throw new VerificationError({
			field: "accountNonce",
			expected: `about ${refusedNonce}, as a moment ago`,
			actual: nonce,
		});
	}
	// The pinned values are signed, not the answer's. A chain id of zero would be valid on every chain.
	const signed = await signWith(
		async () => account.signAuthorization?.({ chainId, address: delegate, nonce }),
		{ signal },
	);
	if (signed?.yParity === undefined) throw cannotAuthorize(account.address);
	const { yParity, r, s } = signed;
	return { chainId, address: delegate, nonce, yParity, r, s };
}

function cannotAuthorize(address: string): GeoswapError {
	return new GeoswapError(
		`Nothing was sent: the account ${address} cannot sign EIP-7702 authorizations, which its first swap from a chain needs. Use an account that holds its own key.`,
		{ code: "SIGNER_FAILED", next: "use_other_wallet", retryable: false, docs: "docs/signing.md" },
	);
}

function expectOneOf(field: string, expected: string[], actual: string | undefined): void {
	if (expected.some((one) => one.toLowerCase() === actual?.toLowerCase())) return;
	throw new VerificationError({ field, expected: expected.join(" or "), actual });
}
