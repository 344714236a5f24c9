import type { AuthorizationBody } from "@geoswap/protocol";
import { type Address, type Hex, parseSignature, serializeSignature } from "viem";
import { hashAuthorization } from "viem/utils";
import type { EvmAccount } from "./evm-account.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { signDigest, type Way } from "./sign-digest.ts";

/** Returns an EIP-7702 authorization with the wallet's signature. */
export async function signAuthorization(
	account: Pick<EvmAccount, "address" | "signAuthorization" | "sign">,
	{
		signal,
		...authorization
	}: { chainId: number; address: Address; nonce: number; signal?: AbortSignal | undefined },
): Promise<AuthorizationBody> {
	if (!account.signAuthorization && !account.sign) throw cannotAuthorize(account.address);
	const digest = hashAuthorization(authorization);
	const ways: Way[] = [];
	if (account.signAuthorization) {
		ways.push({ digest, sign: async () => serialized(await account.signAuthorization?.(authorization)) });
	}
	if (account.sign) ways.push({ digest, sign: async () => account.sign?.({ hash: digest }) });
	const signature = await signDigest(account.address, ways, { signal });
	const { r, s, yParity } = parseSignature(signature);
	return { ...authorization, yParity, r, s };
}

function serialized(signed: { r: Hex; s: Hex; yParity?: number | undefined } | undefined): Hex | undefined {
	if (signed?.yParity === undefined) return undefined;
	const { r, s, yParity } = signed;
	return serializeSignature({ r, s, yParity });
}

function cannotAuthorize(address: string): GeoswapError {
	return new GeoswapError(
		`Nothing was sent, because the account ${address} cannot sign EIP-7702 authorizations, which this needs. Use one that has signAuthorization or sign.`,
		{ code: "SIGNER_FAILED", next: "use_other_wallet", retryable: false, docs: "/docs/signing.md" },
	);
}
