import { type AuthorizationBody, type MandateJson, unpackDeadlines } from "@geoswap/protocol";
import { type Address, getAddress, isAddressEqual, type WalletClient } from "viem";
import { buildOp } from "./build-op.ts";
import type { EvmAccount } from "./evm-account.ts";
import { refuse } from "./expect-same.ts";
import { expectedTerms } from "./expected-order.ts";
import { GeoswapError } from "./geoswap-error.ts";
import type { Quote } from "./get-quote.ts";
import type { OriginSigner } from "./origin-signer.ts";
import { sendAgain } from "./send-again.ts";
import { type DelegateOption, signDelegation } from "./sign-delegation.ts";
import { signOp } from "./sign-op.ts";
import { sleep } from "./sleep.ts";
import { type VerifiedOp, verifyOp } from "./verify-op.ts";

const attempts = 5;
const pauseMs = 1_000;
/** Covers differences between block times and the local clock, and the delay of the last possible block. */
const clockToleranceMs = 15_000;

export type EvmSignerOptions = DelegateOption & {
	/** The owner's mandate, if the account is an agent's. The mandate's wallet then pays, and the account signs. */
	mandate?: MandateJson | undefined;
	/**
	 * The owner's authorization, from `signDelegation`, for the first swap with a mandate from a wallet that is not
	 * delegated yet. An agent's key cannot sign one.
	 */
	authorization?: AuthorizationBody | undefined;
};

/** Returns a signer for an EVM wallet: a viem account, a viem wallet client with one, or any object that fits. */
export function evmSigner(
	wallet: EvmAccount | WalletClient,
	{ delegate: chosen, mandate, authorization: owners }: EvmSignerOptions = {},
): OriginSigner {
	const account = accountOf(wallet);
	if (mandate && !isAddressEqual(account.address, mandate.agent as Address))
		throw new TypeError(
			`the mandate is for the agent ${mandate.agent}, and the signer is ${account.address}`,
		);
	if (mandate && chosen !== undefined)
		throw new TypeError("only the owner can choose the wallet's delegate; leave delegate out with a mandate");
	const payer = mandate ? getAddress(mandate.wallet) : account.address;
	if (chosen === "typed-only" && !account.signTypedData && !account.sign)
		throw new TypeError("a typed-only wallet must sign typed data; pass one that has signTypedData or sign");
	const signedOps = new WeakMap<Quote, VerifiedOp>();
	return {
		origin: "evm",
		address: payer,
		mandate,
		sign: async (client, { intent, quote, pins, limits, onAuthorizing, signal }) => {
			// The terms are checked before an authorization is signed for them.
			expectedTerms({ intent, quote, pins, limits, wallet: payer, origin: "evm" });
			const { geoQuoteToken } = quote;
			const chainId = Number(intent.originChain);
			let authorization: AuthorizationBody | undefined;
			let refusedNonce: number | undefined;
			for (let attempt = 1; ; attempt++) {
				try {
					// Most wallets are delegated, and the build reports whether this one is. If no response arrives, the same
					// request is repeated, so that a service that may already have an authorization gets no second one.
					const ask = () => buildOp(client, { geoQuoteToken, authorization, signal });
					const build = await sendAgain(ask, { signal });
					const op = verifyOp({ intent, quote, build, pins, limits, wallet: payer });
					// Two orders of one quote with different deadlines could both be opened.
					const { order, hash } = signedOps.get(quote) ?? op;
					if (op.hash !== hash) refuse("geoOp.order.deadlines", order.deadlines, op.order.deadlines);
					if (chosen !== "typed-only" || op.isTypedOnly) {
						signedOps.set(quote, op);
						const signature = await signOp(account, op, { signal });
						const { geoOpToken, expiresAt } = build;
						const { openDeadline } = unpackDeadlines(order.deadlines);
						const deadAt = new Date(Number(openDeadline) * 1_000 + clockToleranceMs).toISOString();
						const body = { geoOpToken, signature, ...(mandate && { mandate }) };
						return { path: "/swap/submit", body, expiresAt, deadAt };
					}
					if (authorization || attempt === attempts)
						refuse("geoOp.delegate", "the delegate for typed data only", build.geoOp.delegate);
				} catch (error) {
					if (!(error instanceof GeoswapError) || error.next !== "reauthorize" || attempt === attempts)
						throw error;
					// The wallet has another transaction in flight, or its nonce has just changed.
					if (authorization) await sleep(pauseMs, signal);
				}
				if (mandate && (authorization || !owners)) throw needsOwner(payer, chainId);
				onAuthorizing();
				if (mandate) {
					authorization = owners;
					continue;
				}
				if (authorization) refusedNonce = Number(authorization.nonce);
				authorization = await signDelegation(client, {
					chainId,
					account,
					pins,
					delegate: chosen,
					refusedNonce,
					spend: { token: intent.inputToken, amount: quote.amount },
					signal,
				});
			}
		},
	};
}

/** Returns the wallet of a request as a signer. */
export function signerOf({
	signer,
	delegate,
	mandate,
	authorization,
}: { signer: EvmAccount | WalletClient | OriginSigner } & EvmSignerOptions): OriginSigner {
	// `sign` would not distinguish them, because a viem account has it too.
	if (!("origin" in signer)) return evmSigner(signer, { delegate, mandate, authorization });
	if (delegate !== undefined || mandate || authorization)
		throw new TypeError(
			"delegate, mandate and authorization are options for a wallet; pass them to evmSigner(), which made this signer",
		);
	return signer;
}

function needsOwner(wallet: Address, chainId: number): GeoswapError {
	return new GeoswapError(
		`${wallet} is not delegated on chain ${chainId}, and an agent's key cannot delegate it. Its owner makes one swap from this chain, or signs an authorization with signDelegation(), which swap() takes as authorization.`,
		{
			code: "NEEDS_DELEGATION",
			next: "reauthorize",
			retryable: false,
			docs: "/docs/mandates.md#swap-within-a-mandate",
		},
	);
}

function accountOf(wallet: EvmAccount | WalletClient): EvmAccount {
	if (!("transport" in wallet)) return wallet;
	const { account } = wallet;
	if (!account)
		throw new TypeError("the wallet client has no account; give it one, or pass the account itself");
	return {
		address: account.address,
		signTypedData: (typedData) => wallet.signTypedData({ account, ...typedData }),
		signMessage: ({ message }) => wallet.signMessage({ account, message }),
		// A browser's wallet does not show what it would sign. EIP-7702 is only for accounts that hold their own key.
		...(account.type === "local" && { signAuthorization: account.signAuthorization, sign: account.sign }),
	};
}
