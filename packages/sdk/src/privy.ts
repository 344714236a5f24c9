import { base64 } from "./base64.ts";
import type { RemoteSolanaWallet } from "./solana-wallet.ts";

/** The part of a `PrivyClient` of `@privy-io/node` that is used. */
type Privy<Authorization> = {
	wallets: () => {
		solana: () => {
			signTransaction: (
				walletId: string,
				input: { transaction: string; authorization_context?: Authorization },
			) => Promise<{ signed_transaction: string }>;
		};
	};
};

/**
 * Returns a Solana wallet of Privy as a wallet for `solanaSigner()`. It needs no version of `@solana/kit`, unlike
 * Privy's own signer. Privy's EVM wallets need no adapter. Pass the result of `createViemAccount`.
 */
export function privySolanaWallet<Authorization>(
	privy: Privy<Authorization>,
	{
		walletId,
		address,
		authorizationContext,
	}: {
		walletId: string;
		address: string;
		/** Privy's authorization context, if the wallet has an owner. */
		authorizationContext?: Authorization;
	},
): RemoteSolanaWallet {
	return {
		address,
		signTransaction: async (bytes) => {
			const answer = await privy
				.wallets()
				.solana()
				.signTransaction(walletId, {
					transaction: base64.encode(bytes),
					...(authorizationContext !== undefined && { authorization_context: authorizationContext }),
				});
			return base64.decode(answer.signed_transaction);
		},
	};
}
