import type { SolanaAddress } from "@geoswap/protocol";
import {
	appendTransactionMessageInstructions,
	type Blockhash,
	compileTransaction,
	createTransactionMessage,
	decompileTransactionMessage,
	getCompiledTransactionMessageDecoder,
	type Instruction,
	pipe,
	setTransactionMessageFeePayer,
	setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import {
	getSetComputeUnitLimitInstruction,
	getSetComputeUnitPriceInstruction,
	parseSetComputeUnitLimitInstruction,
	parseSetComputeUnitPriceInstruction,
} from "@solana-program/compute-budget";

/**
 * Returns a message like another one, with other instructions behind its compute budget, or with another fee payer or
 * other fees.
 */
export function compileMessage(
	like: Uint8Array,
	change: readonly Instruction[] | ((own: readonly Instruction[]) => readonly Instruction[]),
	{
		feePayer,
		units,
		microLamports,
	}: { feePayer?: SolanaAddress; units?: number; microLamports?: bigint } = {},
): Uint8Array {
	const compiled = getCompiledTransactionMessageDecoder().decode(like);
	const before = decompileTransactionMessage(compiled);
	const [limit, price, ...own] = before.instructions as readonly (Instruction & { data: Uint8Array })[];
	if (!limit || !price) throw new Error("the message has no compute budget");
	const instructions = [
		getSetComputeUnitLimitInstruction({
			units: units ?? parseSetComputeUnitLimitInstruction(limit).data.units,
		}),
		getSetComputeUnitPriceInstruction({
			microLamports: microLamports ?? parseSetComputeUnitPriceInstruction(price).data.microLamports,
		}),
		...(typeof change === "function" ? change(own) : change),
	];
	const { lifetimeToken } = compiled as { lifetimeToken: string };
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayer(feePayer ?? before.feePayer.address, empty),
		(paid) =>
			setTransactionMessageLifetimeUsingBlockhash(
				{ blockhash: lifetimeToken as Blockhash, lastValidBlockHeight: 0n },
				paid,
			),
		(living) => appendTransactionMessageInstructions(instructions, living),
	);
	return new Uint8Array(compileTransaction(message).messageBytes);
}
