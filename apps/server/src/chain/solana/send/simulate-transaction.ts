import type { SolanaAddress } from "@geoswap/protocol";
import {
	type Base64EncodedWireTransaction,
	getCompiledTransactionMessageDecoder,
	getTransactionDecoder,
} from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";

export type TransactionSimulation =
	| { ok: true }
	| {
			ok: false;
			reason: string;
			logs: string[];
			/** The account that would be left with something, but with less than its rent. */
			poorAccount?: SolanaAddress;
	  };

/** Returns whether a transaction would succeed now. Its signatures may be missing; its blockhash must be valid. */
export async function simulateTransaction(
	{ chainId, rpc }: SolanaChain,
	raw: Hex | Uint8Array,
): Promise<TransactionSimulation> {
	const { value } = await requestChain(
		chainId,
		rpc
			.simulateTransaction(toBase64(raw), {
				encoding: "base64",
				commitment: "confirmed",
				sigVerify: false,
				replaceRecentBlockhash: false,
			})
			.send(),
	);
	if (value.err === null) return { ok: true };
	const poorAccount = poorAccountOf(value.err, raw);
	return {
		ok: false,
		reason: reasonOf(value.err),
		logs: [...(value.logs ?? [])],
		...(poorAccount && { poorAccount }),
	};
}

export function toBase64(raw: Hex | Uint8Array): Base64EncodedWireTransaction {
	return Buffer.from(toBytes(raw)).toString("base64") as Base64EncodedWireTransaction;
}

function toBytes(raw: Hex | Uint8Array): Uint8Array {
	return typeof raw === "string" ? hexToBytes(raw) : raw;
}

function poorAccountOf(error: unknown, raw: Hex | Uint8Array): SolanaAddress | undefined {
	if (typeof error !== "object" || error === null || !("InsufficientFundsForRent" in error)) return undefined;
	const { account_index: index } = error.InsufficientFundsForRent as { account_index: number | bigint };
	const { messageBytes } = getTransactionDecoder().decode(toBytes(raw));
	return getCompiledTransactionMessageDecoder().decode(messageBytes).staticAccounts[Number(index)];
}

/** Formats an error, for example as `instruction 2: Custom 1`. */
function reasonOf(error: unknown): string {
	if (typeof error === "string") return error;
	const [name, detail] = Object.entries(error as Record<string, unknown>)[0] ?? ["unknown error", undefined];
	if (name === "InstructionError" && Array.isArray(detail)) {
		return `instruction ${detail[0]}: ${reasonOf(detail[1])}`;
	}
	return typeof detail === "object" && detail !== null ? name : `${name} ${detail}`;
}
