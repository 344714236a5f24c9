import { memoProgramAddress, type SolanaAddress, solanaNativeToken } from "@geoswap/protocol";
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { Hex } from "viem";
import type { AuditedSolana } from "./audited-solana.ts";

/** A top-level instruction of a message, not one of a program that it calls. */
export type SolanaInstruction = { program: SolanaAddress; accounts: SolanaAddress[]; data: Uint8Array };

/** The wallet that paid, and the account that the payment came from. */
export type PaymentSource = { wallet: SolanaAddress; source: SolanaAddress };

/** Returns the order that a transaction names in its memo, if any. */
export function memoOf(instructions: readonly SolanaInstruction[]): Hex | undefined {
	const memo = instructions.find(({ program }) => program === memoProgramAddress);
	return memo && (Buffer.from(memo.data).toString("utf8") as Hex);
}

/** Returns, per escrow account, the wallet that paid into it, and from which of its accounts. */
export function paymentSources(
	{ accounts }: Pick<AuditedSolana, "accounts">,
	instructions: readonly SolanaInstruction[],
): Map<SolanaAddress, PaymentSource> {
	const sources = new Map<SolanaAddress, PaymentSource>();
	for (const { holder, address, token } of accounts) {
		if (holder !== "escrow") continue;
		const source = sourceOf(instructions, { address, token });
		if (source) sources.set(address, source);
	}
	return sources;
}

function sourceOf(
	instructions: readonly SolanaInstruction[],
	{ address, token }: { address: SolanaAddress; token: SolanaAddress },
): PaymentSource | undefined {
	for (const { program, accounts } of instructions) {
		const isTransfer =
			program === (token === solanaNativeToken ? SYSTEM_PROGRAM_ADDRESS : TOKEN_PROGRAM_ADDRESS) &&
			accounts.includes(address);
		const [source] = accounts;
		// In a token transfer the last account owns the first.
		const wallet = token === solanaNativeToken ? source : accounts.at(-1);
		if (isTransfer && source && source !== address && wallet) return { wallet, source };
	}
	return undefined;
}
