import {
	appendTransactionMessageInstructions,
	assertIsTransactionWithBlockhashLifetime,
	type Blockhash,
	createKeyPairSignerFromBytes,
	createSolanaRpc,
	createSolanaRpcSubscriptions,
	createTransactionMessage,
	getBase64EncodedWireTransaction,
	getSignatureFromTransaction,
	type Instruction,
	type KeyPairSigner,
	pipe,
	sendAndConfirmTransactionFactory,
	setTransactionMessageComputeUnitLimit,
	setTransactionMessageComputeUnitPrice,
	setTransactionMessageFeePayerSigner,
	setTransactionMessageLifetimeUsingBlockhash,
	signTransactionMessageWithSigners,
} from "@solana/kit";
import type { TestSolana } from "../src/index.ts";

type Lifetime = { blockhash: Blockhash; lastValidBlockHeight: bigint };

/** Returns the standard client, unmodified, and signers of the development keys. */
export async function solanaClient({ rpcUrl, wsUrl, keys }: TestSolana) {
	const rpc = createSolanaRpc(rpcUrl);
	const rpcSubscriptions = createSolanaRpcSubscriptions(wsUrl);
	const signerOf = (key: Uint8Array | undefined): Promise<KeyPairSigner> =>
		createKeyPairSignerFromBytes(key ?? new Uint8Array());
	const [payer, stranger, wallet] = await Promise.all(
		[keys.feePayers[0], keys.strangers[0], keys.wallets[0]].map(signerOf),
	);
	if (!payer || !stranger || !wallet) throw new Error("keys are missing");

	const latest = async (): Promise<Lifetime> =>
		(await rpc.getLatestBlockhash({ commitment: "confirmed" }).send()).value;

	const sign = async (
		instructions: Instruction[],
		options: { payer?: KeyPairSigner; lifetime?: Lifetime; unitLimit?: number; unitPrice?: bigint } = {},
	) => {
		const lifetime = options.lifetime ?? (await latest());
		const message = pipe(
			createTransactionMessage({ version: 0 }),
			(empty) => setTransactionMessageFeePayerSigner(options.payer ?? payer, empty),
			(paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
			(living) => setTransactionMessageComputeUnitLimit(options.unitLimit ?? 100_000, living),
			(limited) => setTransactionMessageComputeUnitPrice(options.unitPrice ?? 0n, limited),
			(priced) => appendTransactionMessageInstructions(instructions, priced),
		);
		const transaction = await signTransactionMessageWithSigners(message);
		assertIsTransactionWithBlockhashLifetime(transaction);
		return {
			transaction,
			signature: getSignatureFromTransaction(transaction),
			wire: getBase64EncodedWireTransaction(transaction),
		};
	};
	type Signed = Awaited<ReturnType<typeof sign>>;

	const send = (wire: Signed["wire"], { skipPreflight = true } = {}) =>
		rpc.sendTransaction(wire, { encoding: "base64", skipPreflight, preflightCommitment: "confirmed" }).send();

	const statusOf = async (signature: Signed["signature"]) =>
		(await rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()).value[0];

	return {
		rpc,
		rpcSubscriptions,
		signerOf,
		payer,
		stranger,
		wallet,
		latest,
		sign,
		send,
		statusOf,
		sendAndConfirm: sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions }),
		/** Sends without preflight, and waits until it is in the chain. */
		land: async (...args: Parameters<typeof sign>) => {
			const signed = await sign(...args);
			await send(signed.wire);
			for (;;) {
				const status = await statusOf(signed.signature);
				if (status && status.confirmationStatus !== "processed") return { ...signed, status };
				await new Promise((resolve) => setTimeout(resolve, 10));
			}
		},
	};
}

export type SolanaClient = Awaited<ReturnType<typeof solanaClient>>;
