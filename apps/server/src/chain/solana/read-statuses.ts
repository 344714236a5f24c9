import { getBase58Decoder, type Signature } from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { askChain } from "../evm/ask-chain.ts";
import type { SolanaChain } from "./connect-solana.ts";

/** As many as a node answers for at once. */
const statusesPerRequest = 256;

export type SignatureStatus = { slot: number; isFinal: boolean; isFailed: boolean };

/** What became of transactions, in their order. Undefined for what is unknown, or not confirmed yet. */
export async function readStatuses(
	{ chainId, rpc }: SolanaChain,
	signatures: readonly Hex[],
): Promise<(SignatureStatus | undefined)[]> {
	const statuses: (SignatureStatus | undefined)[] = [];
	for (let start = 0; start < signatures.length; start += statusesPerRequest) {
		const some = signatures.slice(start, start + statusesPerRequest).map(toSignature);
		const { value } = await askChain(
			chainId,
			rpc.getSignatureStatuses(some, { searchTransactionHistory: true }).send(),
		);
		if (value.length !== some.length) throw new Error("the chain answered for other signatures than asked");
		for (const status of value) {
			const level = status?.confirmationStatus;
			statuses.push(
				status && (level === "confirmed" || level === "finalized")
					? { slot: Number(status.slot), isFinal: level === "finalized", isFailed: status.err !== null }
					: undefined,
			);
		}
	}
	return statuses;
}

/** As Solana writes it. */
export function toSignature(signature: Hex): Signature {
	return getBase58Decoder().decode(hexToBytes(signature)) as Signature;
}
