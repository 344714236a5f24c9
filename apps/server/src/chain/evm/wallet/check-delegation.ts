import { authorizationSigner } from "@geoswap/keys/signature/authorization-signer";
import { type Authorization, SwapError } from "@geoswap/protocol";
import { type Address, isAddressEqual } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import type { AccountNonces } from "./read-wallet.ts";
import { signedAuthorization } from "./signed-authorization.ts";
import { readDelegation, type WalletDelegation } from "./wallet-delegation.ts";

/** The pending transaction may be this wallet's own first swap, after which it needs no authorization any more. */
const underWay = {
	message:
		"The wallet has a transaction under way, which may change its state. Send the same request again once it is mined.",
	next: "retry",
	retryable: true,
} as const;

/**
 * Returns the delegate with which the wallet will pay, and the authorization for it if one is needed. If the wallet has
 * that delegate already, an authorization is ignored, stale or not, because two concurrent first swaps carry the same
 * one.
 */
export async function checkDelegation({
	chain,
	wallet,
	delegation,
	targets,
	authorization,
	readNonces,
}: {
	chain: EvmChain;
	wallet: Address;
	delegation: WalletDelegation;
	/** The delegates that an authorization may name. The first is offered to wallets without one. */
	targets: readonly [Address, ...Address[]];
	authorization: Authorization | undefined;
	/** Called only for a wallet that needs an authorization. */
	readNonces: () => Promise<AccountNonces>;
}): Promise<{ delegate: Address; authorization?: Authorization }> {
	const isSwitch =
		delegation.kind === "ours" &&
		authorization !== undefined &&
		!isAddressEqual(authorization.address, delegation.delegate) &&
		targets.some((target) => isAddressEqual(target, authorization.address));
	if (delegation.kind === "ours" && !isSwitch) return { delegate: delegation.delegate };
	if (delegation.kind === "other") {
		throw new SwapError("UNSUPPORTED_DELEGATION", { delegatedTo: delegation.delegate });
	}
	if (delegation.kind === "contract") throw new SwapError("UNSUPPORTED_DELEGATION", {});
	const nonces = await readNonces();
	if (!authorization) {
		throw new SwapError("NEEDS_DELEGATION", { delegationTarget: targets[0], accountNonce: nonces.latest });
	}

	const target = targets.find((one) => isAddressEqual(one, authorization.address)) ?? targets[0];
	const problem = authorizationProblem(authorization, { chainId: chain.chainId, wallet, target, nonces });
	if (problem?.isStale) {
		// A first swap that landed between the two readings moved the nonce and delegated the wallet.
		const now = await readDelegation(chain, wallet);
		if (now.kind === "ours" && now.delegate === target) return { delegate: target };
	}
	if (problem) throw problem.error;
	return { delegate: target, authorization };
}

/**
 * Returns why a chain would not apply the authorization to the wallet, or undefined if it would. It is stale if the
 * wallet's nonce has moved or is about to, since the delegation that it was signed for may have happened already.
 */
export function authorizationProblem(
	authorization: Authorization,
	{
		chainId,
		wallet,
		target,
		nonces,
	}: { chainId: number; wallet: Address; target: Address; nonces: AccountNonces },
): { error: SwapError; isStale: boolean } | undefined {
	const refuse = (
		reason: SwapError<"INVALID_AUTHORIZATION">["details"]["reason"],
		expected: string | number,
		options: ConstructorParameters<typeof SwapError>[2] = {},
	) => new SwapError("INVALID_AUTHORIZATION", { reason, expected }, options);
	const wrong = (error: SwapError) => ({ error, isStale: false });
	// Zero would be valid on every chain, which is more than is needed.
	if (authorization.chainId !== BigInt(chainId)) return wrong(refuse("chain", chainId));
	if (!isAddressEqual(authorization.address, target)) return wrong(refuse("address", target));
	if (!isSignedBy(wallet, authorization)) return wrong(refuse("signer", wallet));
	const { pending, latest } = nonces;
	if (pending !== latest) {
		return { error: refuse("pending_transactions", pending, underWay), isStale: true };
	}
	if (authorization.nonce !== BigInt(latest)) return { error: refuse("nonce", latest), isStale: true };
	return undefined;
}

function isSignedBy(wallet: Address, authorization: Authorization): boolean {
	// No account has a nonce of more than 64 bits.
	if (authorization.nonce > BigInt(Number.MAX_SAFE_INTEGER)) return false;
	const signer = authorizationSigner(signedAuthorization(authorization));
	return signer !== undefined && isAddressEqual(signer, wallet);
}
