import { deriveSolanaDevnetKeys } from "@geoswap/devnet";
import {
	fromSolanaWord,
	markerAddress,
	markerSeed,
	type Order,
	orderId,
	tokenAccountOf,
	tokenAccountRentLamports,
	tokenAccountSize,
} from "@geoswap/protocol";
import {
	type Address,
	type Base64EncodedWireTransaction,
	createKeyPairSignerFromBytes,
	type KeyPairSigner,
	type Signature,
} from "@solana/kit";
import {
	getSetComputeUnitLimitInstruction,
	getSetComputeUnitPriceInstruction,
} from "@solana-program/compute-budget";
import { getAllocateWithSeedInstruction, getTransferSolInstruction } from "@solana-program/system";
import {
	getCreateAssociatedTokenIdempotentInstruction,
	getInitializeAccount3Instruction,
	getTransferCheckedInstruction,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import { signSolana } from "../solana/sign-solana.ts";
import type { SolanaTestChain } from "../solana/solana-chain.ts";

const nativeMint = "So11111111111111111111111111111111111111112" as Address;

/**
 * Signs a second payout of an order to a token on Solana with the vault's key, like a worker that has forgotten the
 * first: nothing is wrong with it except that there are two.
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
	const vault = await createKeyPairSignerFromBytes(deriveSolanaDevnetKeys().vault);
	const mint = fromSolanaWord(order.outputToken);
	const asset = chain.deployment.assets.find(({ address }) => address === mint);
	if (!asset) throw new Error(`no asset ${mint} on Solana`);
	const recipient = fromSolanaWord(order.recipient);
	const [source, destination, marker] = await Promise.all([
		tokenAccountOf({ owner: vault.address, token: mint }),
		tokenAccountOf({ owner: recipient, token: mint }),
		markerAddress({ base: vault.address, orderId: orderId(order) }),
	]);
	const instructions = [
		getSetComputeUnitLimitInstruction({ units: 100_000 }),
		getSetComputeUnitPriceInstruction({ microLamports: computePrice }),
		getCreateAssociatedTokenIdempotentInstruction({
			payer: feePayer,
			ata: destination,
			owner: recipient,
			mint,
		}),
		getTransferCheckedInstruction({
			source,
			mint,
			destination,
			authority: vault,
			amount,
			decimals: asset.decimals,
		}),
		getTransferSolInstruction({ source: feePayer, destination: marker, amount: tokenAccountRentLamports }),
		getAllocateWithSeedInstruction({
			newAccount: marker,
			baseAccount: vault,
			base: vault.address,
			seed: markerSeed(orderId(order)),
			space: tokenAccountSize,
			programAddress: TOKEN_PROGRAM_ADDRESS,
		}),
		getInitializeAccount3Instruction({ account: marker, mint: nativeMint, owner: vault.address }),
	];
	return signSolana(chain, { feePayer, instructions });
}
