import {
	accountRentLamports,
	openTransaction,
	programAccountSizes,
	solanaNativeToken,
	tokenAccountRentLamports,
	toSolanaWord,
} from "@geoswap/protocol";
import { bytesToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SolanaChainScene, solanaChainScene } from "../../../../test/solana/solana-chain-scene.ts";
import { signVoid } from "../program/sign-ending.ts";
import { signFill } from "../program/sign-fill.ts";
import { readSlots } from "../read/read-slots.ts";
import { readSolanaWallet } from "../read/read-solana-wallet.ts";
import { simulateTransaction } from "./simulate-transaction.ts";

let scene: SolanaChainScene;
beforeAll(async () => {
	scene = await solanaChainScene();
});
afterAll(() => scene?.stop());

test("an unsigned transaction that would land simulates as ok", async () => {
	const unsigned = await unsignedOrder(25_000_000n);
	expect(await simulateTransaction(scene.chain, unsigned)).toEqual({ ok: true });
	expect(await simulateTransaction(scene.chain, bytesToHex(unsigned))).toEqual({ ok: true });
});

test("a transaction that would fail simulates with the reason", async () => {
	const reading = { wallet: scene.wallet.address, token: toSolanaWord(scene.tokens.usdc) };
	const { balance } = await readSolanaWallet(scene.chain, reading);
	const tooMuch = await simulateTransaction(scene.chain, await unsignedOrder(balance + 1n));
	expect(tooMuch).toMatchObject({ ok: false, reason: "instruction 3: Custom 1" });
	expect(!tooMuch.ok && tooMuch.logs.length).toBeGreaterThan(0);
	const order = scene.orderTo((await scene.newWallet()).address);
	await scene.land(await signVoid({ ...(await scene.parts()), order }));
	const again = await signVoid({ ...(await scene.parts()), order });
	expect(await simulateTransaction(scene.chain, again.raw)).toMatchObject({
		ok: false,
		reason: expect.stringMatching(/^instruction 2: /),
	});
});

test("an account that would be left with less than its rent is named", async () => {
	const payer = await scene.newWallet();
	const orderRent = accountRentLamports(programAccountSizes.order);
	const lamports = orderRent + tokenAccountRentLamports + 100_000n;
	await scene.solana.admin.airdrop({ address: payer.address, lamports });
	const left = await unsignedOrder(1_000_000n, payer.address);
	const poor = { ok: false, reason: "InsufficientFundsForRent" };
	await expect
		.poll(() => simulateTransaction(scene.chain, left))
		.toMatchObject({ ...poor, poorAccount: payer.address });
	const recipient = (await scene.newWallet()).address;
	const order = scene.orderTo(recipient, { outputToken: toSolanaWord(solanaNativeToken), minOutput: 1n });
	const paid = await signFill({ ...(await scene.parts()), order, amount: 890_879n, createsAccount: false });
	expect(await simulateTransaction(scene.chain, paid.raw)).toMatchObject({ ...poor, poorAccount: recipient });
});

test("a transaction with an expired blockhash would not land", async () => {
	const unsigned = await unsignedOrder(1_000_000n);
	await scene.solana.admin.warp({ slots: 200 });
	expect(await simulateTransaction(scene.chain, unsigned)).toMatchObject({
		ok: false,
		reason: "BlockhashNotFound",
	});
});

test("the final slot is behind the confirmed one, and both have a height and a time", async () => {
	const before = await readSlots(scene.chain);
	for (const { slot, height, timestamp } of [before.finalized, before.confirmed]) {
		expect(slot).toBeGreaterThan(height);
		expect(Math.abs(timestamp - Date.now() / 1000)).toBeLessThan(600);
	}
	expect(before.finalized.slot).toBeLessThan(before.confirmed.slot);
	expect(before.finalized.height).toBeLessThan(before.confirmed.height);
	await expect
		.poll(async () => (await readSlots(scene.chain)).finalized.height)
		.toBeGreaterThan(before.finalized.height);
});

async function unsignedOrder(inputAmount: bigint, feePayer = scene.feePayer.address): Promise<Uint8Array> {
	const { blockhash, deployment } = await scene.parts();
	const compute = { unitLimit: 80_000, microLamportsPerUnit: 1_000n };
	const parts = { feePayer, blockhash, compute };
	return (await openTransaction(deployment, scene.order({ inputAmount }), parts)).unsigned;
}
