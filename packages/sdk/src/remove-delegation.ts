import type { RemoveDelegationResponse } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import type { Client } from "./create-client.ts";
import type { EvmAccount } from "./evm-account.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { getDelegation } from "./get-delegation.ts";
import { request } from "./request.ts";
import { sendAgain } from "./send-again.ts";
import { signAuthorization } from "./sign-authorization.ts";
import { sleep } from "./sleep.ts";

const pauseMs = 1_000;
/** Longer than a removal that works takes on any chain. */
const patienceMs = 90_000;

/**
 * Removes a wallet's delegation on a chain at the service's cost, and waits until the chain shows it. Returns false if
 * there was none. A swap of the wallet from the chain must have ended: it is waited for up to a minute, and then the
 * service's `WALLET_BUSY` is thrown.
 */
export async function removeDelegation(
	client: Client,
	{
		chainId,
		account,
		signal,
	}: {
		chainId: number;
		account: Pick<EvmAccount, "address" | "signAuthorization" | "sign">;
		signal?: AbortSignal | undefined;
	},
): Promise<boolean> {
	const walletAddress = account.address;
	const ask = () => getDelegation(client, { chainId, walletAddress, signal });
	const { delegated, accountNonce: nonce } = await sendAgain(ask, { signal });
	if (!delegated) return false;
	// A wallet of another provider has no nonce here: the service says why it refuses it. The nonce is the service's word,
	// which does no harm: at any nonce, the authorization can do nothing but remove a delegation.
	const unsigned = { chainId, address: zeroAddress, nonce: nonce ?? 0 };
	const authorization = await signAuthorization(account, { ...unsigned, signal });
	const body = { chainId, walletAddress, authorization };
	await sendAgain(
		() => request<RemoveDelegationResponse>(client, { path: "/delegation/remove", body, signal }),
		{ signal },
	);
	const untilMs = Date.now() + patienceMs;
	for (;;) {
		const { delegated, accountNonce } = await sendAgain(ask, { signal });
		if (!delegated) return true;
		if (Date.now() > untilMs) throw notRemoved(walletAddress, { isNonceSpent: accountNonce !== nonce });
		await sleep(pauseMs, signal);
	}
}

function notRemoved(wallet: string, { isNonceSpent }: { isNonceSpent: boolean }): GeoswapError {
	const reason = isNonceSpent
		? "It has sent a transaction of its own meanwhile, which made the authorization invalid."
		: `The service's transaction was not executed within ${patienceMs / 1_000} seconds: the chain is slow, or the service has given the transaction up. The wallet did nothing wrong, and the authorization can only remove the delegation, even if it is executed later.`;
	return new GeoswapError(`${wallet} is still delegated. ${reason} Try again.`, {
		code: "NOT_REMOVED",
		next: "retry",
		retryable: true,
		docs: "docs/rescue.md#remove-a-delegation",
	});
}
