import { type SolanaAddress, tokenAccountOf } from "@geoswap/protocol";
import type { KeyPairSigner } from "@solana/kit";
import {
	getCloseAccountInstruction,
	getCreateAssociatedTokenIdempotentInstruction,
	getTransferInstruction,
} from "@solana-program/token";
import { sendSolana } from "./send-solana.ts";
import { solanaBalance } from "./solana-balance.ts";
import type { SolanaTestChain } from "./solana-chain.ts";

/** Closes an owner's account for a token: all that is in it goes to another, who pays for that, and its rent as well. */
export async function closeTokenAccount(
	chain: SolanaTestChain,
	{ owner, token, to }: { owner: KeyPairSigner; token: SolanaAddress; to: KeyPairSigner },
): Promise<void> {
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
						...{ payer: to, ata: destination, owner: to.address, mint: token },
					}),
					getTransferInstruction({ source: account, destination, authority: owner, amount }),
				];
	const close = getCloseAccountInstruction({ account, destination: to.address, owner });
	await sendSolana(chain, { feePayer: to, instructions: [...keep, close] });
}
