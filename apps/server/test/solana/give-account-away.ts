import { solanaKeyVariables, type TestSolana } from "@geoswap/devnet";
import { type SolanaAddress, tokenAccountOf } from "@geoswap/protocol";
import { generateKeyPairSigner, type KeyPairSigner } from "@solana/kit";
import { AuthorityType, getSetAuthorityInstruction } from "@solana-program/token";
import { expect } from "vitest";
import { connectSolana } from "../../src/chain/solana/connect-solana.ts";
import { readBlockhash } from "../../src/chain/solana/read/read-slots.ts";
import { readStatuses } from "../../src/chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import { signInstructions } from "../../src/chain/solana/send/sign-instructions.ts";
import { solanaKeysOf } from "../signer/solana-keys-of.ts";

/** Transfers the ownership of an owner's token account. Returns the new owner. */
export async function giveAccountAway(
	solana: TestSolana,
	{
		token,
		from,
		to,
		account = from.address,
		slots = async () => {},
	}: {
		token: SolanaAddress;
		from: KeyPairSigner;
		to?: SolanaAddress;
		/** The owner from which the account's address is derived. */
		account?: SolanaAddress;
		/** Lets slots pass, if they do not by themselves. */
		slots?: () => Promise<unknown>;
	},
): Promise<KeyPairSigner> {
	const chain = connectSolana(solana);
	const {
		feePayers: [feePayer],
	} = await solanaKeysOf(solanaKeyVariables(solana.keys), solana.deployment);
	if (!feePayer) throw new Error("the devnet has no fee payer");
	const stranger = await generateKeyPairSigner();
	const instruction = getSetAuthorityInstruction({
		owned: await tokenAccountOf({ owner: account, token }),
		owner: from,
		authorityType: AuthorityType.AccountOwner,
		newAuthority: to ?? stranger.address,
	});
	const { signature, raw } = await signInstructions({
		feePayer,
		blockhash: (await readBlockhash(chain)).blockhash,
		computePrice: 1_000n,
		unitLimit: 20_000,
		instructions: [instruction],
	});
	await sendRaw(chain, raw);
	await slots();
	await expect
		.poll(async () => (await readStatuses(chain, [signature]))[0], { timeout: 15_000 })
		.toMatchObject({ isFailed: false });
	return stranger;
}
