import type { Instruction, TransactionSigner } from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import {
	findAssociatedTokenPda,
	getTransferCheckedInstruction,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import type { Hex } from "viem";
import { fromSolanaWord, type SolanaAddress, solanaNativeToken } from "./solana-address.ts";
import type { SolanaDeployment } from "./solana-deployment.ts";

/** Returns a transfer of a deployment's asset between two owners, by their associated accounts or as lamports. */
export async function transferInstruction(
	{ assets }: Pick<SolanaDeployment, "assets">,
	{
		from,
		to,
		token,
		amount,
	}: { from: TransactionSigner; to: SolanaAddress /** The order's word. */; token: Hex; amount: bigint },
): Promise<Instruction> {
	const mint = fromSolanaWord(token);
	if (mint === solanaNativeToken) return getTransferSolInstruction({ source: from, destination: to, amount });
	const asset = assets.find(({ address }) => address === mint);
	if (!asset) throw new RangeError(`${mint} is not an asset of this deployment`);
	return getTransferCheckedInstruction({
		source: await tokenAccountOf({ owner: from.address, token: mint }),
		mint,
		destination: await tokenAccountOf({ owner: to, token: mint }),
		authority: from,
		amount,
		decimals: asset.decimals,
	});
}

/** Returns the one account in which an owner is expected to hold a token. */
export async function tokenAccountOf({
	owner,
	token,
}: {
	owner: SolanaAddress;
	token: SolanaAddress;
}): Promise<SolanaAddress> {
	const key = `${owner}:${token}`;
	const known = tokenAccounts.get(key);
	if (known) return known;
	const [address] = await findAssociatedTokenPda({ owner, mint: token, tokenProgram: TOKEN_PROGRAM_ADDRESS });
	if (tokenAccounts.size >= maxTokenAccounts) tokenAccounts.clear();
	tokenAccounts.set(key, address);
	return address;
}

/** Cache of derived addresses. Deriving one is slow trial and error, and the service's are needed repeatedly. */
const tokenAccounts = new Map<string, SolanaAddress>();
const maxTokenAccounts = 1_000;
