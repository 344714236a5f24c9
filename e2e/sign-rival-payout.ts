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
	appendTransactionMessageInstructions,
	type Base64EncodedWireTransaction,
	createKeyPairSignerFromBytes,
	createTransactionMessage,
	getBase64EncodedWireTransaction,
	getSignatureFromTransaction,
	pipe,
	type Signature,
	setTransactionMessageFeePayerSigner,
	setTransactionMessageLifetimeUsingBlockhash,
	signTransactionMessageWithSigners,
} from "@solana/kit";
import { getAllocateWithSeedInstruction, getTransferSolInstruction } from "@solana-program/system";
import {
	getCreateAssociatedTokenIdempotentInstruction,
	getInitializeAccount3Instruction,
	getTransferCheckedInstruction,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import type { SolanaTestChain } from "./solana-chain.ts";

const nativeMint = "So11111111111111111111111111111111111111112" as Address;

/**
 * Another payout of an order to a token on Solana than the service's own, signed with the service's keys, as by a worker
 * that has forgotten the first: nothing is wrong with it but that there are two.
 */
export async function signRivalPayout(
	{ rpc, deployment }: SolanaTestChain,
	{ order, amount }: { order: Order; amount: bigint },
): Promise<{ signature: Signature; wire: Base64EncodedWireTransaction }> {
	const keys = deriveSolanaDevnetKeys();
	const [vault, feePayer] = await Promise.all([
		createKeyPairSignerFromBytes(keys.vault),
		createKeyPairSignerFromBytes(keys.feePayers[1] ?? keys.vault),
	]);
	const mint = fromSolanaWord(order.outputToken);
	const asset = deployment.assets.find(({ address }) => address === mint);
	if (!asset) throw new Error(`no asset ${mint} on Solana`);
	const recipient = fromSolanaWord(order.recipient);
	const [source, destination, marker] = await Promise.all([
		tokenAccountOf({ owner: vault.address, token: mint }),
		tokenAccountOf({ owner: recipient, token: mint }),
		markerAddress({ base: vault.address, orderId: orderId(order) }),
	]);
	const instructions = [
		getCreateAssociatedTokenIdempotentInstruction({
			...{ payer: feePayer, ata: destination, owner: recipient, mint },
		}),
		getTransferCheckedInstruction({
			...{ source, mint, destination, authority: vault, amount, decimals: asset.decimals },
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
	const { value: latest } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayerSigner(feePayer, empty),
		(paid) => setTransactionMessageLifetimeUsingBlockhash(latest, paid),
		(living) => appendTransactionMessageInstructions(instructions, living),
	);
	const signed = await signTransactionMessageWithSigners(message);
	return { signature: getSignatureFromTransaction(signed), wire: getBase64EncodedWireTransaction(signed) };
}
