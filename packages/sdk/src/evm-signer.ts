import { type AuthorizationBody, unpackDeadlines } from "@geoswap/protocol";
import type { WalletClient } from "viem";
import { buildOp } from "./build-op.ts";
import type { EvmAccount } from "./evm-account.ts";
import { expectOwnSignature } from "./expect-own-signature.ts";
import { expectedTerms } from "./expected-order.ts";
import { GeoswapError } from "./geoswap-error.ts";
import type { OriginSigner } from "./origin-signer.ts";
import { sendAgain } from "./send-again.ts";
import { signDelegation } from "./sign-delegation.ts";
import { signWith } from "./sign-with.ts";
import { sleep } from "./sleep.ts";
import { verifyOp } from "./verify-op.ts";
import { at, natural } from "./wire-value.ts";

const attempts = 5;
const pauseMs = 1_000;
/** A block's time and a clock differ, and what is in the last block that may have it is seen a little later. */
const clockToleranceMs = 15_000;

/** A wallet on an EVM chain: a viem local account, a viem wallet client with an account, or the same by hand. */
export function evmSigner(wallet: EvmAccount | WalletClient): OriginSigner {
	const account = accountOf(wallet);
	return {
		origin: "evm",
		address: account.address,
		sign: async (client, { intent, quote, pins, limits, onAuthorizing, signal }) => {
			// Before an authorization is signed for it.
			expectedTerms({ intent, quote, pins, limits, wallet: account.address, origin: "evm" });
			const { geoQuoteToken } = quote;
			let authorization: AuthorizationBody | undefined;
			let refusedNonce: number | undefined;
			for (let attempt = 1; ; attempt++) {
				try {
					// Most wallets are delegated: whether this one is the build says. Where there is no answer the same is sent
					// again: whoever may have an authorization is given no other for it.
					const ask = () => buildOp(client, { geoQuoteToken, authorization, signal });
					const build = await sendAgain(ask, { signal });
					const hash = verifyOp({ intent, quote, build, pins, limits, wallet: account.address });
					const signature = await signWith(() => account.signMessage({ message: { raw: hash } }), { signal });
					await expectOwnSignature(signature, { hash, wallet: account.address });
					const { geoOpToken, expiresAt } = build;
					const field = "geoOp.order.deadlines";
					const { openDeadline } = unpackDeadlines(natural(field, at(build, field)));
					const deadAt = new Date(Number(openDeadline) * 1_000 + clockToleranceMs).toISOString();
					return { path: "/swap/submit", body: { geoOpToken, signature }, expiresAt, deadAt };
				} catch (error) {
					if (!(error instanceof GeoswapError) || error.next !== "reauthorize" || attempt === attempts)
						throw error;
					// A transaction of the wallet's own is on its way, or its nonce has just moved.
					if (authorization) await sleep(pauseMs, signal);
				}
				onAuthorizing();
				const chainId = Number(intent.originChain);
				if (authorization) refusedNonce = Number(authorization.nonce);
				authorization = await signDelegation(client, { chainId, account, pins, refusedNonce, signal });
			}
		},
	};
}

function accountOf(wallet: EvmAccount | WalletClient): EvmAccount {
	if (!("transport" in wallet)) return wallet;
	const { account } = wallet;
	if (!account)
		throw new TypeError("the wallet client has no account: give it one, or pass the account itself");
	return {
		address: account.address,
		signMessage: ({ message }) => wallet.signMessage({ account, message }),
		// What a browser's wallet would sign it does not say: EIP-7702 is for whoever holds his key.
		signAuthorization: account.type === "local" ? account.signAuthorization : undefined,
	};
}
