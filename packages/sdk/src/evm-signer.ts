import { type AuthorizationBody, unpackDeadlines } from "@geoswap/protocol";
import type { WalletClient } from "viem";
import { buildOp } from "./build-op.ts";
import type { EvmAccount } from "./evm-account.ts";
import { expectedTerms } from "./expected-order.ts";
import { GeoswapError } from "./geoswap-error.ts";
import type { OriginSigner } from "./origin-signer.ts";
import { sendAgain } from "./send-again.ts";
import { signDelegation } from "./sign-delegation.ts";
import { signOp } from "./sign-op.ts";
import { sleep } from "./sleep.ts";
import { verifyOp } from "./verify-op.ts";
import { at, natural } from "./wire-value.ts";

const attempts = 5;
const pauseMs = 1_000;
/** Covers the difference between block times and our clock, and the delay until the last possible block is seen. */
const clockToleranceMs = 15_000;

/** Returns a signer for an EVM wallet: a viem account, a viem wallet client with one, or any object that fits. */
export function evmSigner(wallet: EvmAccount | WalletClient): OriginSigner {
	const account = accountOf(wallet);
	return {
		origin: "evm",
		address: account.address,
		sign: async (client, { intent, quote, pins, limits, onAuthorizing, signal }) => {
			// The terms are checked before an authorization is signed for them.
			expectedTerms({ intent, quote, pins, limits, wallet: account.address, origin: "evm" });
			const { geoQuoteToken } = quote;
			let authorization: AuthorizationBody | undefined;
			let refusedNonce: number | undefined;
			for (let attempt = 1; ; attempt++) {
				try {
					// Most wallets are delegated, and the build tells whether this one is. If no answer comes, the same is sent
					// again: a service that may already have an authorization is given no second one.
					const ask = () => buildOp(client, { geoQuoteToken, authorization, signal });
					const build = await sendAgain(ask, { signal });
					const hash = verifyOp({ intent, quote, build, pins, limits, wallet: account.address });
					const signature = await signOp(account, { hash, signal });
					const { geoOpToken, expiresAt } = build;
					const field = "geoOp.order.deadlines";
					const { openDeadline } = unpackDeadlines(natural(field, at(build, field)));
					const deadAt = new Date(Number(openDeadline) * 1_000 + clockToleranceMs).toISOString();
					return { path: "/swap/submit", body: { geoOpToken, signature }, expiresAt, deadAt };
				} catch (error) {
					if (!(error instanceof GeoswapError) || error.next !== "reauthorize" || attempt === attempts)
						throw error;
					// A transaction of the wallet's own is in flight, or its nonce has just moved.
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
		// A browser's wallet does not say what it would sign: EIP-7702 is only for accounts that hold their own key.
		...(account.type === "local" && { signAuthorization: account.signAuthorization, sign: account.sign }),
	};
}
