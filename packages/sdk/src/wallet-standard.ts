import type { RemoteSolanaWallet } from "./solana-wallet.ts";

type SignTransaction = (input: {
	account: never;
	transaction: Uint8Array;
}) => Promise<readonly { signedTransaction: Uint8Array }[]>;

/**
 * Returns an account of a Wallet Standard wallet as a wallet for `solanaSigner()`. Throws a TypeError if the wallet
 * cannot sign a transaction without sending it.
 */
export function walletStandardWallet(
	{ features }: { features: Readonly<Record<string, unknown>> },
	account: { address: string },
): RemoteSolanaWallet {
	const feature = features["solana:signTransaction"] as { signTransaction: SignTransaction } | undefined;
	if (!feature) throw new TypeError("the wallet has no solana:signTransaction; use another one");
	return {
		address: account.address,
		signTransaction: async (transaction) => {
			const [signed] = await feature.signTransaction({ account: account as never, transaction });
			if (!signed) throw new TypeError("the wallet returned no transaction");
			return signed.signedTransaction;
		},
	};
}
