import {
	appendTransactionMessageInstructions,
	createTransactionMessage,
	getBase64EncodedWireTransaction,
	getSignatureFromTransaction,
	type Instruction,
	type KeyPairSigner,
	pipe,
	setTransactionMessageFeePayerSigner,
	setTransactionMessageLifetimeUsingBlockhash,
	signTransactionMessageWithSigners,
} from "@solana/kit";
import { expect } from "vitest";
import type { SolanaTestChain } from "./solana-chain.ts";

const landsWithinMs = 20_000;

/** Sends what someone else than the service wants, at that one's cost, and waits until it is confirmed. */
export async function sendSolana(
	{ rpc }: Pick<SolanaTestChain, "rpc">,
	{ feePayer, instructions }: { feePayer: KeyPairSigner; instructions: readonly Instruction[] },
): Promise<string> {
	const { value: latest } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayerSigner(feePayer, empty),
		(paid) => setTransactionMessageLifetimeUsingBlockhash(latest, paid),
		(living) => appendTransactionMessageInstructions(instructions, living),
	);
	const transaction = await signTransactionMessageWithSigners(message);
	const signature = getSignatureFromTransaction(transaction);
	await rpc.sendTransaction(getBase64EncodedWireTransaction(transaction), { encoding: "base64" }).send();
	await expect
		.poll(
			async () => {
				const { value } = await rpc.getSignatureStatuses([signature]).send();
				const [status] = value;
				const isSeen =
					status?.confirmationStatus === "confirmed" || status?.confirmationStatus === "finalized";
				return isSeen && status?.err === null;
			},
			{ timeout: landsWithinMs, interval: 100 },
		)
		.toBe(true);
	return signature;
}
