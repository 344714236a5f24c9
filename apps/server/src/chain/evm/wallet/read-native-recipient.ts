import type { Address } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { walletDelegation } from "./wallet-delegation.ts";

/**
 * The kinds of recipients of a chain's native token, by the gas that a payment may use: an account that exists, without
 * code or with that of our own delegate; one that the payment creates; and any other code, which may use all gas that
 * it gets. An account that exists keeps existing. To become a contract costs its owner about as much gas as the payment
 * then wastes.
 */
export type NativeRecipient = "account" | "new-account" | "contract";

/** Reads what kind of recipient an address is. Stops waiting once the signal aborts. */
export async function readNativeRecipient(
	{ client, deployment }: EvmChain,
	{ address, signal }: { address: Address; signal: AbortSignal },
): Promise<NativeRecipient> {
	const params: [Address, "latest"] = [address, "latest"];
	const [code, nonce, balance] = await Promise.all([
		client.request({ method: "eth_getCode", params }, { signal }),
		client.request({ method: "eth_getTransactionCount", params }, { signal }),
		client.request({ method: "eth_getBalance", params }, { signal }),
	]);
	const delegation = walletDelegation(code, deployment.contracts);
	if (delegation.kind === "other" || delegation.kind === "contract") return "contract";
	// EIP-161: an account without code, nonce and balance does not exist.
	const isEmpty = delegation.kind === "none" && BigInt(nonce) === 0n && BigInt(balance) === 0n;
	return isEmpty ? "new-account" : "account";
}
