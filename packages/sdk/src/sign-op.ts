import { orderTypedDataToJson } from "@geoswap/protocol";
import { type Hex, hashMessage } from "viem";
import type { EvmAccount } from "./evm-account.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { signDigest, type Way } from "./sign-digest.ts";
import type { VerifiedOp } from "./verify-op.ts";

/**
 * Returns the wallet's signature of an order. It is over the typed data if the wallet can sign that, because a user or
 * a policy can then read what is signed. Otherwise it is by `personal_sign` over the 32 bytes of the order's digest, or
 * else over the digest itself, which is the same as that of the typed data.
 */
export async function signOp(
	account: EvmAccount,
	{ order, hash, isTypedOnly }: VerifiedOp,
	{ signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Hex> {
	const { signTypedData, signMessage, sign } = account;
	if (isTypedOnly && !signTypedData && !sign) throw cannotSignTyped(account.address);
	// Vendors send it as JSON, which has no bigint. Some write an empty domain unless the types have the domain's.
	const typedData = orderTypedDataToJson(order);
	const message = { raw: hash };
	const ways: Way[] = [];
	if (signTypedData) ways.push({ digest: hash, sign: async () => account.signTypedData?.(typedData) });
	// An account for typed data only refuses such a signature.
	if (signMessage && !isTypedOnly) {
		ways.push({ digest: hashMessage(message), sign: async () => account.signMessage?.({ message }) });
	}
	if (sign) ways.push({ digest: hash, sign: async () => account.sign?.({ hash }) });
	return signDigest(account.address, ways, { signal });
}

function cannotSignTyped(address: string): GeoswapError {
	return new GeoswapError(
		`Nothing was sent: ${address} is delegated to the account that accepts typed data only, and this wallet cannot sign typed data. Use one that has signTypedData or sign.`,
		{ code: "SIGNER_FAILED", next: "use_other_wallet", retryable: false, docs: "/docs/signing.md" },
	);
}
