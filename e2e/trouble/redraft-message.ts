import type { SolanaAddress } from "@geoswap/protocol";
import {
	appendTransactionMessageInstructions,
	type Blockhash,
	compileTransactionMessage,
	createTransactionMessage,
	decompileTransactionMessage,
	getCompiledTransactionMessageDecoder,
	getCompiledTransactionMessageEncoder,
	type Instruction,
	pipe,
	setTransactionMessageFeePayer,
	setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";

export type MessageDraft = {
	version: 0 | "legacy";
	feePayer: SolanaAddress;
	blockhash: string;
	instructions: Instruction[];
};

/** Returns the message with a wallet's changes to it. */
export function redraftMessage(message: Uint8Array, change: (draft: MessageDraft) => unknown): Uint8Array {
	const built = decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(message));
	const draft: MessageDraft = {
		version: 0,
		feePayer: built.feePayer.address,
		blockhash: (built.lifetimeConstraint as { blockhash: string }).blockhash,
		instructions: [...built.instructions],
	};
	change(draft);
	const changed = pipe(
		createTransactionMessage({ version: draft.version as 0 }),
		(empty) => setTransactionMessageFeePayer(draft.feePayer, empty),
		(paid) =>
			setTransactionMessageLifetimeUsingBlockhash(
				{ blockhash: draft.blockhash as Blockhash, lastValidBlockHeight: 0n },
				paid,
			),
		(living) => appendTransactionMessageInstructions(draft.instructions, living),
	);
	return new Uint8Array(getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(changed)));
}
