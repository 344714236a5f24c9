import { getBase58Decoder, type Signature } from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { askChain } from "../../ask-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";

/** As many as a node answers for at once. */
const statusesPerRequest = 256;

export type SignatureStatus = { slot: number; isFinal: boolean; isFailed: boolean };

/** What a node says of a transaction. */
export type StatusAnswer = {
	/** Undefined where it is not confirmed. */
	status: SignatureStatus | undefined;
	/** Where the node has it, confirmed or not. */
	slot: number | undefined;
	/** How far the node is. What is in later slots it cannot know. */
	asOf: number;
};

/** What became of transactions, in their order. Undefined for what the node does not know, or not as confirmed. */
export async function readStatuses(
	chain: SolanaChain,
	signatures: readonly Hex[],
): Promise<(SignatureStatus | undefined)[]> {
	return (await askStatuses(chain, signatures)).map(({ status }) => status);
}

/** The same, with how much each answer is worth. */
export async function askStatuses(
	{ chainId, rpc }: SolanaChain,
	signatures: readonly Hex[],
): Promise<StatusAnswer[]> {
	const answers: StatusAnswer[] = [];
	for (let start = 0; start < signatures.length; start += statusesPerRequest) {
		const some = signatures.slice(start, start + statusesPerRequest).map(toSignature);
		const { context, value } = await askChain(
			chainId,
			rpc.getSignatureStatuses(some, { searchTransactionHistory: true }).send(),
		);
		if (value.length !== some.length) throw new Error("the chain answered for other signatures than asked");
		for (const status of value) {
			const level = status?.confirmationStatus;
			const slot = status ? Number(status.slot) : undefined;
			answers.push({
				status:
					status && slot !== undefined && (level === "confirmed" || level === "finalized")
						? { slot, isFinal: level === "finalized", isFailed: status.err !== null }
						: undefined,
				slot,
				asOf: Number(context.slot),
			});
		}
	}
	return answers;
}

/** As Solana writes it. */
export function toSignature(signature: Hex): Signature {
	return getBase58Decoder().decode(hexToBytes(signature)) as Signature;
}
