import {
	fromSolanaWord,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
	tokenAccountOf,
} from "@geoswap/protocol";
import type { Instruction, TransactionSigner } from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import {
	getCreateAssociatedTokenIdempotentInstruction,
	getTransferCheckedInstruction,
} from "@solana-program/token";
import type { Hex } from "viem";

/** Moves an asset between two owners. With `accountPaidBy`, the receiver's account is made where it is missing. */
export async function transferInstructions({
	deployment,
	from,
	to,
	token,
	amount,
	accountPaidBy,
}: {
	deployment: SolanaDeployment;
	from: TransactionSigner;
	to: SolanaAddress;
	token: Hex;
	amount: bigint;
	accountPaidBy?: TransactionSigner | undefined;
}): Promise<Instruction[]> {
	const mint = fromSolanaWord(token);
	if (to === from.address) throw new RangeError(`${to} cannot pay itself`);
	if (mint === solanaNativeToken) {
		return [getTransferSolInstruction({ source: from, destination: to, amount })];
	}
	const asset = deployment.assets.find(({ address }) => address === mint);
	if (!asset) throw new RangeError(`${mint} is no asset of this deployment`);
	const source = await tokenAccountOf({ owner: from.address, token: mint });
	const destination = await tokenAccountOf({ owner: to, token: mint });
	const transfer = getTransferCheckedInstruction({
		source,
		mint,
		destination,
		authority: from,
		amount,
		decimals: asset.decimals,
	});
	if (!accountPaidBy) return [transfer];
	const create = getCreateAssociatedTokenIdempotentInstruction({
		payer: accountPaidBy,
		ata: destination,
		owner: to,
		mint,
	});
	return [create, transfer];
}
