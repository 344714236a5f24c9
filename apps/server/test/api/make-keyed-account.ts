import { solanaKeyVariables, type TestSolana } from "@geoswap/devnet";
import { type SolanaAddress, tokenAccountRentLamports, tokenAccountSize } from "@geoswap/protocol";
import { generateKeyPairSigner, type KeyPairSigner } from "@solana/kit";
import { getCreateAccountInstruction } from "@solana-program/system";
import { getInitializeAccount3Instruction, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { expect } from "vitest";
import { connectSolana } from "../../src/chain/solana/connect-solana.ts";
import { readBlockhash } from "../../src/chain/solana/read/read-slots.ts";
import { readStatuses } from "../../src/chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import { signInstructions } from "../../src/chain/solana/send/sign-instructions.ts";
import { solanaKeysOf } from "../signer/solana-keys-of.ts";

/** Makes a token account at an address that has a key, like a wallet's. Slots pass by `slots`, or by themselves. */
export async function makeKeyedAccount(
	solana: TestSolana,
	{ token, slots = async () => {} }: { token: SolanaAddress; slots?: () => Promise<unknown> },
): Promise<KeyPairSigner> {
	const chain = connectSolana(solana);
	const {
		feePayers: [feePayer],
	} = await solanaKeysOf(solanaKeyVariables(solana.keys), solana.deployment);
	if (!feePayer) throw new Error("the devnet has no fee payer");
	const account = await generateKeyPairSigner();
	const { signature, raw } = await signInstructions({
		feePayer,
		blockhash: (await readBlockhash(chain)).blockhash,
		computePrice: 1_000n,
		unitLimit: 20_000,
		instructions: [
			getCreateAccountInstruction({
				payer: feePayer,
				newAccount: account,
				lamports: tokenAccountRentLamports,
				space: tokenAccountSize,
				programAddress: TOKEN_PROGRAM_ADDRESS,
			}),
			getInitializeAccount3Instruction({ account: account.address, mint: token, owner: feePayer.address }),
		],
	});
	await sendRaw(chain, raw);
	await slots();
	await expect
		.poll(async () => (await readStatuses(chain, [signature]))[0], { timeout: 15_000 })
		.toMatchObject({ isFailed: false });
	return account;
}
