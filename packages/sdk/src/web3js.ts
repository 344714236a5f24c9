import type { RemoteSolanaWallet } from "./solana-wallet.ts";

/** The class of `@solana/web3.js` 1, which this package does not import. */
type TransactionClass<Transaction> = { deserialize: (bytes: Uint8Array) => Transaction };

type Named =
	| { address: string }
	/** A wallet adapter. */
	| { publicKey: { toBase58: () => string } | null }
	/** A wallet provider of AgentKit. */
	| { getAddress: () => string };

/**
 * Returns a wallet that signs transactions of `@solana/web3.js` 1 as a wallet for `solanaSigner()`. It may be a wallet
 * adapter, a wallet provider of AgentKit, or `{ address, signTransaction }` around Turnkey's signer. A `Keypair` needs
 * no adapter, since its `secretKey` can be passed.
 */
export function web3jsWallet<Transaction extends { serialize: () => Uint8Array }>(
	wallet: Named & { signTransaction: (transaction: Transaction) => Promise<Transaction> },
	VersionedTransaction: TransactionClass<Transaction>,
): RemoteSolanaWallet {
	return {
		address: addressOf(wallet),
		signTransaction: async (bytes) =>
			(await wallet.signTransaction(VersionedTransaction.deserialize(bytes))).serialize(),
	};
}

function addressOf(wallet: Named): string {
	if ("address" in wallet) return wallet.address;
	if ("getAddress" in wallet) return wallet.getAddress();
	if (!wallet.publicKey) throw new TypeError("the wallet is not connected; connect it first");
	return wallet.publicKey.toBase58();
}
