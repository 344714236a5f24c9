import { type SolanaAddress, solanaNativeToken, tokenAccountOf, toSolanaWord } from "@geoswap/protocol";
import { getCreateAccountInstruction } from "@solana-program/system";
import { AuthorityType, getSetAuthorityInstruction, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { afterAll, beforeAll, expect, test } from "vitest";
import { limitedTransport } from "../../../../test/solana/limited-transport.ts";
import { type SolanaChainScene, solanaChainScene } from "../../../../test/solana/solana-chain-scene.ts";
import { connectSolana } from "../connect-solana.ts";
import { signFill } from "../program/sign-fill.ts";
import { signInstructions } from "../send/sign-instructions.ts";
import { readHoldings } from "./read-holdings.ts";
import { readSolanaWallet } from "./read-solana-wallet.ts";

let scene: SolanaChainScene;
beforeAll(async () => {
	scene = await solanaChainScene();
});
afterAll(() => scene?.stop());

test("a new wallet reads as empty, and later with its balance, lamports and token account", async () => {
	const wallet = (await scene.newWallet()).address;
	const nothing = { balance: 0n, lamports: 0n };
	const token = toSolanaWord(scene.tokens.usdc);
	expect(await readSolanaWallet(scene.chain, { wallet, token })).toEqual({
		...nothing,
		hasAccount: false,
		payProblem: undefined,
	});
	const native = toSolanaWord(solanaNativeToken);
	expect(await readSolanaWallet(scene.chain, { wallet, token: native })).toEqual({
		...nothing,
		hasAccount: true,
		payProblem: undefined,
	});
	await scene.solana.admin.airdrop({ address: wallet, lamports: 5_000_000n });
	await scene.solana.admin.mintTo({ owner: wallet, token: scene.tokens.usdc, amount: 12n });
	expect(await readSolanaWallet(scene.chain, { wallet, token })).toEqual({
		balance: 12n,
		lamports: 5_000_000n,
		hasAccount: true,
		payProblem: undefined,
	});
	expect(await readSolanaWallet(scene.chain, { wallet, token: native })).toMatchObject({
		balance: 5_000_000n,
	});
});

test("a token account that a wallet gave away does not count as the wallet's, and a fill that pays it fails", async () => {
	const wallet = await scene.newWallet();
	const token = toSolanaWord(scene.tokens.usdc);
	await scene.solana.admin.mintTo({ owner: wallet.address, token: scene.tokens.usdc, amount: 12n });
	const given = await signInstructions({
		...(await scene.parts()),
		unitLimit: 20_000,
		instructions: [
			getSetAuthorityInstruction({
				owned: await tokenAccountOf({ owner: wallet.address, token: scene.tokens.usdc }),
				owner: wallet,
				authorityType: AuthorityType.AccountOwner,
				newAuthority: (await scene.newWallet()).address,
			}),
		],
	});
	expect(await scene.land(given)).toMatchObject({ isFailed: false });
	const reading = await readSolanaWallet(scene.chain, { wallet: wallet.address, token });
	expect(reading).toMatchObject({
		balance: 0n,
		hasAccount: false,
		payProblem: expect.stringMatching("another owner"),
	});
	const order = scene.orderTo(wallet.address);
	const fill = { order, amount: order.minOutput, createsAccount: !reading.hasAccount };
	expect(await scene.land(await signFill({ ...(await scene.parts()), ...fill }))).toMatchObject({
		isFailed: true,
	});
});

test("an account that a caller names as recipient has a small response, regardless of its size", async () => {
	const recipient = await scene.newWallet();
	const parts = await scene.parts();
	const created = await signInstructions({
		...parts,
		unitLimit: 20_000,
		instructions: [
			getCreateAccountInstruction({
				payer: parts.feePayer,
				newAccount: recipient,
				lamports: 8_000_000_000n,
				space: 1_000_000n,
				programAddress: TOKEN_PROGRAM_ADDRESS,
			}),
		],
	});
	expect(await scene.land(created)).toMatchObject({ isFailed: false });
	const { transport } = limitedTransport(scene.solana, { maxBytes: 2_000 });
	const chain = connectSolana({ ...scene.solana, transport });
	const read = (token: SolanaAddress) =>
		readSolanaWallet(chain, { wallet: recipient.address, token: toSolanaWord(token) });
	expect(await read(solanaNativeToken)).toMatchObject({ payProblem: expect.stringMatching("the program") });
	expect(await read(scene.tokens.usdc)).toMatchObject({ lamports: 8_000_000_000n, hasAccount: false });
});

test("the vault's holdings are read for every asset, at either commitment, without the rent of its account", async () => {
	const assets = scene.chain.deployment.assets.map(({ address }) => toSolanaWord(address));
	for (const commitment of ["confirmed", "finalized"] as const) {
		const holdings = await readHoldings(scene.chain, { commitment, others: [] });
		expect([...holdings.vault.keys()]).toEqual(assets);
		expect([...holdings.vault.values()].every((held) => held > 0n)).toBe(true);
		expect(holdings.vault.get(toSolanaWord(solanaNativeToken))).toBe(20_000n * 1_000_000_000n);
	}
});
