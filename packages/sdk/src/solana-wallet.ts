import {
	address as addressOf,
	createKeyPairSignerFromBytes,
	createKeyPairSignerFromPrivateKeyBytes,
	getPublicKeyFromAddress,
	getTransactionDecoder,
	getTransactionEncoder,
	type SignatureBytes,
	type Transaction,
	verifySignature,
} from "@solana/kit";
import { GeoswapError } from "./geoswap-error.ts";
import { notItsSignature, signWith } from "./sign-with.ts";

/** A remote wallet. It gets a transaction's bytes, and returns them with its signature in them. */
export type RemoteSolanaWallet = {
	address: string;
	signTransaction: (transaction: Uint8Array) => Promise<Uint8Array>;
};

// The signers of `@solana/kit` are described by their functions, so that those of other major versions fit as well.
type Signers<Answer> = (transactions: never, config?: never) => Promise<readonly Answer[]>;
type PartialSigner = { address: string; signTransactions: Signers<Readonly<Record<string, Uint8Array>>> };
type ModifyingSigner = { address: string; modifyAndSignTransactions: Signers<Transaction> };

/** A signer of `@solana/kit`, the 64 bytes of a key pair or the 32 of its private key, or a remote wallet. */
export type SolanaWallet = PartialSigner | ModifyingSigner | RemoteSolanaWallet | Uint8Array;

type CheckedWallet = {
	address: string;
	signTransaction: (
		transaction: Uint8Array,
		options?: { signal?: AbortSignal | undefined },
	) => Promise<Uint8Array>;
};

/** Converts any wallet to one that signs bytes. It must sign them unchanged, and its result is compared with them. */
export async function toRemoteWallet(wallet: SolanaWallet): Promise<CheckedWallet> {
	if (wallet instanceof Uint8Array) {
		const signerOf =
			wallet.length === 32 ? createKeyPairSignerFromPrivateKeyBytes : createKeyPairSignerFromBytes;
		return toRemoteWallet(await signerOf(wallet));
	}
	const { address } = wallet;
	const sign = async (bytes: Uint8Array) =>
		"signTransaction" in wallet ? wallet.signTransaction(bytes) : signWithKit(wallet, bytes);
	return {
		address,
		signTransaction: async (unsigned, { signal } = {}) => {
			// The wallet gets a copy, because it must not write into the bytes that its result is compared with.
			const signed = await signWith(() => sign(unsigned.slice()), { signal });
			await expectSigned(expectUnchanged(unsigned, signed), address);
			return signed;
		},
	};
}

async function signWithKit(signer: PartialSigner | ModifyingSigner, bytes: Uint8Array): Promise<Uint8Array> {
	const transaction = getTransactionDecoder().decode(bytes);
	// The types require a lifetime, which is the service's concern. The signer gets the bytes.
	const one = [transaction] as never;
	// If the signer is both, its method that only signs is preferred to the one that may change the transaction.
	if (!("signTransactions" in signer)) {
		const [changed = transaction] = await signer.modifyAndSignTransactions(one);
		return new Uint8Array(getTransactionEncoder().encode(changed));
	}
	const [signatures] = await signer.signTransactions(one);
	const signed = { ...transaction, signatures: { ...transaction.signatures, ...signatures } };
	return new Uint8Array(getTransactionEncoder().encode(signed as Transaction));
}

/** Throws if the wallet added instructions. That is another transaction, which the service refuses. */
function expectUnchanged(unsigned: Uint8Array, signed: Uint8Array): Transaction {
	const { messageBytes } = getTransactionDecoder().decode(unsigned);
	const transaction = decodeIfOne(signed);
	if (transaction && transaction.messageBytes.join() === messageBytes.join()) return transaction;
	throw new GeoswapError(
		"Nothing was sent, because the wallet changed the transaction while signing. Use one that signs the bytes unchanged.",
		{ code: "TRANSACTION_CHANGED", next: "use_other_wallet", retryable: false, docs: "/docs/signing.md" },
	);
}

function decodeIfOne(bytes: Uint8Array): Transaction | undefined {
	try {
		return getTransactionDecoder().decode(bytes);
	} catch {
		return undefined;
	}
}

async function expectSigned({ messageBytes, signatures }: Transaction, wallet: string): Promise<void> {
	const signature = signatures[addressOf(wallet)] as SignatureBytes | null | undefined;
	const publicKey = await getPublicKeyFromAddress(addressOf(wallet));
	if (!signature || !(await verifySignature(publicKey, signature, messageBytes)))
		throw notItsSignature(wallet);
}
