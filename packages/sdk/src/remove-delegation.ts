import { type RemoveDelegationResponse, revocationTypedData } from "@geoswap/protocol";
import { type Address, type Hex, zeroAddress } from "viem";
import type { Client } from "./create-client.ts";
import { signTyped } from "./create-mandate.ts";
import type { EvmAccount } from "./evm-account.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { type Delegation, getDelegation } from "./get-delegation.ts";
import { request } from "./request.ts";
import { sendAgain } from "./send-again.ts";
import { signAuthorization } from "./sign-authorization.ts";
import { sleep } from "./sleep.ts";

const pauseMs = 1_000;
/** Longer than a removal that works takes on any chain. */
const patienceMs = 90_000;

/**
 * Removes a wallet's delegation on a chain at the service's cost, and waits until the chain shows it. First revokes the
 * wallet's mandates, because they would be valid again after its next delegation. Returns false if there was no
 * delegation. If a swap of the wallet from the chain has not ended, waits up to a minute for its end, and then throws
 * the service's `WALLET_BUSY`.
 */
export async function removeDelegation(
	client: Client,
	{
		chainId,
		account,
		signal,
	}: {
		chainId: number;
		account: Pick<EvmAccount, "address" | "signAuthorization" | "signTypedData" | "sign">;
		signal?: AbortSignal | undefined;
	},
): Promise<boolean> {
	const walletAddress = account.address;
	const ask = () => getDelegation(client, { chainId, walletAddress, signal });
	const before = await sendAgain(ask, { signal });
	if (!before.delegated) return false;
	const { accountNonce: nonce } = before;
	// The service returns no nonce for a wallet of another provider, and then refuses the request with a reason. The
	// nonce is unverified, which does no harm, because at any nonce the authorization can only remove a delegation.
	const unsigned = { chainId, address: zeroAddress, nonce: nonce ?? 0 };
	const authorization = await signAuthorization(account, { ...unsigned, signal });
	const revocation = await signRevocation(account, before, { signal });
	const body = { chainId, walletAddress, authorization, revocation };
	await sendAgain(
		() => request<RemoveDelegationResponse>(client, { path: "/delegation/remove", body, signal }),
		{ signal },
	);
	const untilMs = Date.now() + patienceMs;
	for (;;) {
		const { delegated, accountNonce, mandateEpoch = 0 } = await sendAgain(ask, { signal });
		const isRevoked = mandateEpoch > (before.mandateEpoch ?? 0);
		if (!delegated && isRevoked) return true;
		// The service may have read the epoch from a node that is a block behind.
		if (Date.now() > untilMs && !delegated) throw notRevoked(walletAddress, chainId);
		if (Date.now() > untilMs) throw notRemoved(walletAddress, { isNonceSpent: accountNonce !== nonce });
		await sleep(pauseMs, signal);
	}
}

/**
 * Signs the revocation of the wallet's mandates. Epoch and escrow come from the service. A wrong value does no harm,
 * because the signature can only revoke mandates.
 */
function signRevocation(
	account: Pick<EvmAccount, "address" | "signTypedData" | "sign">,
	{ chainId, mandateEpoch = 0, mandateEscrow = zeroAddress }: Delegation,
	{ signal }: { signal: AbortSignal | undefined },
): Promise<Hex> {
	const escrow = mandateEscrow as Address;
	const about = { chainId, escrow, wallet: account.address, epoch: BigInt(mandateEpoch) };
	return signTyped(account, revocationTypedData(about), { signal });
}

function notRevoked(wallet: string, chainId: number): GeoswapError {
	return new GeoswapError(
		`The delegation of ${wallet} on chain ${chainId} was removed, but its mandates were not revoked. They will be valid again if the wallet is delegated again. If you have signed any, revoke them then, with revokeMandates() of @geoswap/sdk/rescue.`,
		{ code: "NOT_REVOKED", next: "contact_operator", retryable: false, docs: "/docs/mandates.md#end-it" },
	);
}

function notRemoved(wallet: string, { isNonceSpent }: { isNonceSpent: boolean }): GeoswapError {
	const reason = isNonceSpent
		? "It has sent another transaction meanwhile, which made the authorization invalid."
		: `The service's transaction was not executed within ${patienceMs / 1_000} seconds, because the chain is slow, or the service has given the transaction up. The wallet did nothing wrong, and the authorization can only remove the delegation, even if it is executed later.`;
	return new GeoswapError(`${wallet} is still delegated. ${reason} Try again.`, {
		code: "NOT_REMOVED",
		next: "retry",
		retryable: true,
		docs: "/docs/rescue.md#remove-a-delegation",
	});
}
