import type { AuthorizationBody } from "@geoswap/protocol";
import type { Address, Hex, WalletClient } from "viem";
import { buildOp } from "./build-op.ts";
import { expectOwnSignature } from "./expect-own-signature.ts";
import { GeoswapError } from "./geoswap-error.ts";
import type { OriginSigner } from "./origin-signer.ts";
import { signDelegation } from "./sign-delegation.ts";
import { signWith } from "./sign-with.ts";
import { sleep } from "./sleep.ts";
import { verifyOp } from "./verify-op.ts";

/** What is asked of a wallet on an EVM chain. A viem local account has it, and any remote signer can. */
export type EvmAccount = {
	address: Address;
	/** `personal_sign` (EIP-191) over 32 raw bytes. */
	signMessage: (args: { message: { raw: Hex } }) => Promise<Hex>;
	/** EIP-7702. Asked for once on each chain, with the wallet's first swap from it. */
	signAuthorization?:
		| ((args: { chainId: number; address: Address; nonce: number }) => Promise<SignedAuthorization>)
		| undefined;
};

type SignedAuthorization = { yParity?: number | undefined; r: Hex; s: Hex };

const attempts = 5;
const pauseMs = 1_000;

/** A wallet on an EVM chain: a viem local account, a viem wallet client with an account, or the same by hand. */
export function evmSigner(wallet: EvmAccount | WalletClient): OriginSigner {
	const account = accountOf(wallet);
	return {
		origin: "evm",
		address: account.address,
		sign: async (client, { intent, quote, pins, limits, onAuthorizing, signal }) => {
			const { geoQuoteToken } = quote;
			let authorization: AuthorizationBody | undefined;
			for (let attempt = 1; ; attempt++) {
				try {
					// Most wallets are delegated: whether this one is the build says.
					const build = await buildOp(client, { geoQuoteToken, authorization, signal });
					const hash = verifyOp({ intent, quote, build, pins, limits, wallet: account.address });
					const signature = await signWith(() => account.signMessage({ message: { raw: hash } }), { signal });
					await expectOwnSignature(signature, { hash, wallet: account.address });
					const { geoOpToken, expiresAt } = build;
					return { path: "/swap/submit", body: { geoOpToken, signature }, expiresAt };
				} catch (error) {
					if (!(error instanceof GeoswapError) || error.next !== "reauthorize" || attempt === attempts)
						throw error;
					// A transaction of the wallet's own is on its way, or its nonce has just moved.
					if (authorization) await sleep(pauseMs, signal);
				}
				onAuthorizing();
				const chainId = Number(intent.originChain);
				authorization = await signDelegation(client, { chainId, account, pins, signal });
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
