import { deriveSolanaDevnetKeys } from "@geoswap/devnet";
import { createTokenAccount, fillOrder, fromSolanaWord, type Order } from "@geoswap/protocol";
import {
	type Base64EncodedWireTransaction,
	createKeyPairSignerFromBytes,
	type KeyPairSigner,
	type Signature,
} from "@solana/kit";
import {
	getSetComputeUnitLimitInstruction,
	getSetComputeUnitPriceInstruction,
} from "@solana-program/compute-budget";
import { signSolana } from "../solana/sign-solana.ts";
import type { SolanaTestChain } from "../solana/solana-chain.ts";

/**
 * Signs a second payout of an order to a token on Solana with the operator's key, like a worker that has forgotten the
 * first. Nothing is wrong with it except that there are two.
 */
export async function signRivalPayout(
	chain: SolanaTestChain,
	{
		order,
		amount,
		feePayer,
		computePrice,
	}: {
		order: Order;
		amount: bigint;
		feePayer: KeyPairSigner;
		/** Within a slot, the transaction that offers more goes first. */
		computePrice: bigint;
	},
): Promise<{ signature: Signature; wire: Base64EncodedWireTransaction }> {
	const operator = await createKeyPairSignerFromBytes(deriveSolanaDevnetKeys().operator);
	const [owner, token] = [fromSolanaWord(order.recipient), fromSolanaWord(order.outputToken)];
	const instructions = [
		getSetComputeUnitLimitInstruction({ units: 120_000 }),
		getSetComputeUnitPriceInstruction({ microLamports: computePrice }),
		await createTokenAccount({ payer: feePayer, owner, token }),
		await fillOrder(chain.deployment.program.address, order, { operator, amount }),
	];
	return signSolana(chain, { feePayer, instructions });
}
