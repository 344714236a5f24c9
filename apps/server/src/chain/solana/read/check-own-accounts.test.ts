import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import {
	pauseVault,
	type SolanaAddress,
	setVaultCap,
	setVaultRoles,
	solanaNativeToken,
} from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, type Instruction, type KeyPairSigner } from "@solana/kit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectSolana } from "../connect-solana.ts";
import { sendRaw } from "../send/send-raw.ts";
import { signInstructions } from "../send/sign-instructions.ts";
import { checkOwnAccounts } from "./check-own-accounts.ts";
import { readBlockhash } from "./read-slots.ts";
import { readStatuses } from "./read-statuses.ts";

let solana: TestSolana;
let owner: KeyPairSigner;
let feePayer: KeyPairSigner;
beforeAll(async () => {
	solana = await startTestSolana();
	const { vaultOwner, strangers } = solana.keys;
	[owner, feePayer] = (await Promise.all(
		[vaultOwner, strangers[0] as Uint8Array].map((key) => createKeyPairSignerFromBytes(key)),
	)) as [KeyPairSigner, KeyPairSigner];
});
afterAll(() => solana?.stop());

/** Lands an instruction of the vault's owner. */
async function land(instruction: Instruction): Promise<void> {
	const chain = connectSolana(solana);
	const { blockhash } = await readBlockhash(chain);
	const signing = { feePayer, blockhash, computePrice: 0n, unitLimit: 50_000 };
	const { raw, signature } = await signInstructions({ ...signing, instructions: [instruction] });
	await sendRaw(chain, raw);
	await expect
		.poll(async () => (await readStatuses(chain, [signature]))[0], { timeout: 15_000 })
		.toMatchObject({ isFailed: false });
}

test("a vault needs its operator, a cap and an account for each token, and may not be paused; the error names what it lacks", async () => {
	const { deployment } = solana;
	const { address: program, vault, operator } = deployment.program;
	const lacks = () => checkOwnAccounts(connectSolana(solana));
	expect(await lacks()).toEqual([]);

	const owned = { program, vault, owner };
	await land(pauseVault(owned, true));
	expect(await lacks()).toEqual([`the vault ${vault} is paused; its owner must unpause it`]);
	await land(setVaultRoles(owned, { operators: [feePayer.address] }));
	const withoutOperator = `the vault ${vault} does not have ${operator} as an operator; its owner must add it`;
	expect(await lacks()).toEqual([withoutOperator, expect.stringContaining("is paused")]);
	await land(pauseVault(owned, false));
	await land(setVaultRoles(owned, { operators: [feePayer.address, operator] }));
	expect(await lacks()).toEqual([]);

	// The mint of a token that the vault has never had.
	const other: SolanaAddress = feePayer.address;
	const [asset] = deployment.assets;
	if (!asset) throw new Error("the devnet has assets");
	const assets = [...deployment.assets, { ...asset, symbol: "OTHER", address: other }];
	const listed = () => checkOwnAccounts(connectSolana({ ...solana, deployment: { ...deployment, assets } }));
	const withoutAccount = `the vault ${vault} has no account for OTHER; create it with spl-token create-account ${other} --owner ${vault}`;
	expect(await listed()).toEqual([
		`the vault ${vault} has no cap for OTHER, so that none may leave it; its owner must set one`,
		withoutAccount,
	]);
	await land(setVaultCap(owned, other, 1n));
	expect(await listed()).toEqual([withoutAccount]);
});

test("a deployment whose vault does not exist is an error", async () => {
	const { deployment } = solana;
	const program = { ...deployment.program, vault: solanaNativeToken };
	const chain = connectSolana({ ...solana, deployment: { ...deployment, program } });
	await expect(checkOwnAccounts(chain)).rejects.toThrow(`there is no vault at ${solanaNativeToken}`);
});
