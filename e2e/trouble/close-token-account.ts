import { type SolanaAddress, tokenAccountOf } from "@geoswap/protocol";
import type { Instruction, KeyPairSigner } from "@solana/kit";
import {
	getCloseAccountInstruction,
	getCreateAssociatedTokenIdempotentInstruction,
	getTransferInstruction,
} from "@solana-program/token";
import { sendSolana } from "../solana/send-solana.ts";
import { signSolana } from "../solana/sign-solana.ts";
import { solanaBalance } from "../solana/solana-balance.ts";
import type { SolanaTestChain } from "../solana/solana-chain.ts";

type Closing = { owner: KeyPairSigner; token: SolanaAddress; to: KeyPairSigner };

/** Closes an owner's account for a token. Its balance and its rent go to `to`, who pays the fee. */
export async function closeTokenAccount(chain: SolanaTestChain, closing: Closing): Promise<void> {
	await sendSolana(chain, { feePayer: closing.to, instructions: await closingInstructions(chain, closing) });
}

/** Tries to close it, and ignores whether that works. */
export async function tryToCloseTokenAccount(chain: SolanaTestChain, closing: Closing): Promise<void> {
	const instructions = await closingInstructions(chain, closing);
	const { wire } = await signSolana(chain, { feePayer: closing.to, instructions });
	await chain.rpc.sendTransaction(wire, { encoding: "base64", skipPreflight: true }).send();
}

async function closingInstructions(
	chain: SolanaTestChain,
	{ owner, token, to }: Closing,
): Promise<Instruction[]> {
	const [account, destination, amount] = await Promise.all([
		tokenAccountOf({ owner: owner.address, token }),
		tokenAccountOf({ owner: to.address, token }),
		solanaBalance(chain, token, owner.address),
	]);
	const keep =
		amount === 0n
			? []
			: [
					getCreateAssociatedTokenIdempotentInstruction({
						payer: to,
						ata: destination,
						owner: to.address,
						mint: token,
					}),
					getTransferInstruction({ source: account, destination, authority: owner, amount }),
				];
	const close = getCloseAccountInstruction({ account, destination: to.address, owner });
	return [...keep, close];
}
