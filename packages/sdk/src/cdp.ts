import { base64 } from "./base64.ts";
import type { RemoteSolanaWallet } from "./solana-wallet.ts";

/** The part of a Solana account of `@coinbase/cdp-sdk` that is used. */
type CdpAccount = {
	address: string;
	signTransaction: (options: { transaction: string }) => Promise<{ signedTransaction: string }>;
};

/** Returns a Solana account of Coinbase's CDP as a wallet for `solanaSigner()`. Its EVM accounts need no adapter. */
export function cdpSolanaWallet(account: CdpAccount): RemoteSolanaWallet {
	return {
		address: account.address,
		signTransaction: async (bytes) => {
			const { signedTransaction } = await account.signTransaction({ transaction: base64.encode(bytes) });
			return base64.decode(signedTransaction);
		},
	};
}
