import type { Base64EncodedWireTransaction } from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { askChain } from "../evm/ask-chain.ts";
import type { SolanaChain } from "./connect-solana.ts";

export type TransactionSimulation = { ok: true } | { ok: false; reason: string; logs: string[] };

/** Whether a transaction would succeed now. Its signatures may be missing, its blockhash must live. */
export async function simulateTransaction(
	{ chainId, rpc }: SolanaChain,
	raw: Hex | Uint8Array,
): Promise<TransactionSimulation> {
	const { value } = await askChain(
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
	return value.err === null
		? { ok: true }
		: { ok: false, reason: reasonOf(value.err), logs: [...(value.logs ?? [])] };
}

export function toBase64(raw: Hex | Uint8Array): Base64EncodedWireTransaction {
	const bytes = typeof raw === "string" ? hexToBytes(raw) : raw;
	return Buffer.from(bytes).toString("base64") as Base64EncodedWireTransaction;
}

/** As `InstructionError: instruction 2: Custom 1`. */
function reasonOf(error: unknown): string {
	if (typeof error === "string") return error;
	const [name, detail] = Object.entries(error as Record<string, unknown>)[0] ?? ["unknown error", undefined];
	if (name === "InstructionError" && Array.isArray(detail)) {
		return `instruction ${detail[0]}: ${reasonOf(detail[1])}`;
	}
	return typeof detail === "object" && detail !== null ? name : `${name} ${detail}`;
}
