import type { Instruction, TransactionPartialSigner } from "@solana/kit";
import { signInstructions } from "../../src/chain/solana/send/sign-instructions.ts";
import type { SimSolanaChain } from "./create-sim-solana-chain.ts";

const unitLimit = 200_000;

/** Sends a transaction of a wallet or a stranger, without simulating it first. Returns its maximum fee in lamports. */
export async function sendInstructions(
	solana: Pick<SimSolanaChain, "request">,
	{
		feePayer,
		instructions,
		computePrice = 100_000n,
	}: {
		feePayer: TransactionPartialSigner;
		instructions: readonly Instruction[];
		/** In micro-lamports per compute unit. A block takes the transactions that pay more first. */
		computePrice?: bigint;
	},
): Promise<bigint> {
	const { value } = solana.request("getLatestBlockhash", [{ commitment: "confirmed" }]) as {
		value: { blockhash: string };
	};
	const { blockhash } = value;
	const { raw } = await signInstructions({ feePayer, blockhash, computePrice, unitLimit, instructions });
	const encoded = Buffer.from(raw.slice(2), "hex").toString("base64");
	solana.request("sendTransaction", [encoded, { encoding: "base64", skipPreflight: true }]);
	const signatures = BigInt(Number.parseInt(raw.slice(2, 4), 16));
	return 5_000n * signatures + (computePrice * BigInt(unitLimit)) / 1_000_000n;
}
