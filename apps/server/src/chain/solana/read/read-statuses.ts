import { getBase58Decoder, type Signature } from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";

/** The maximum number of signatures in one request to a node. */
const statusesPerRequest = 256;

export type SignatureStatus = { slot: number; isFinal: boolean; isFailed: boolean };

/** A node's answer about a transaction. */
export type StatusAnswer = {
	/** Undefined if it is not confirmed. */
	status: SignatureStatus | undefined;
	/** The transaction's slot, confirmed or not; undefined if the node does not have it. */
	slot: number | undefined;
	/** The node's newest slot. It has no data of later ones. */
	asOf: number;
};

/** Reads the statuses of transactions, in order; undefined for an unknown or unconfirmed one. */
export async function readStatuses(
	chain: SolanaChain,
	signatures: readonly Hex[],
): Promise<(SignatureStatus | undefined)[]> {
	return (await askStatuses(chain, signatures)).map(({ status }) => status);
}

/** Reads the same statuses, with the slot that each answer is as of. */
export async function askStatuses(
	{ chainId, rpc }: SolanaChain,
	signatures: readonly Hex[],
): Promise<StatusAnswer[]> {
	const answers: StatusAnswer[] = [];
	for (let start = 0; start < signatures.length; start += statusesPerRequest) {
		const some = signatures.slice(start, start + statusesPerRequest).map(toSignature);
		const { context, value } = await requestChain(
			chainId,
			rpc.getSignatureStatuses(some, { searchTransactionHistory: true }).send(),
		);
		if (value.length !== some.length)
			throw new Error("the chain answered for other signatures than requested");
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

/** Converts a signature to base58, as Solana writes it. */
export function toSignature(signature: Hex): Signature {
	return getBase58Decoder().decode(hexToBytes(signature)) as Signature;
}
