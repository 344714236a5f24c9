import {
	orderId,
	solanaChainId,
	solanaNativeToken,
	tokenAccountOf,
	tokenAccountRentLamports,
	toSolanaWord,
} from "@geoswap/protocol";
import { getCloseAccountInstruction, getTransferCheckedInstruction } from "@solana-program/token";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SolanaChainScene, solanaChainScene } from "../../../../test/solana/solana-chain-scene.ts";
import { makesMarker } from "../marker/makes-marker.ts";
import { readMarkers } from "../marker/read-markers.ts";
import { readHoldings } from "../read/read-holdings.ts";
import { readSolanaWallet } from "../read/read-solana-wallet.ts";
import { receivedBy } from "../read/received-by.ts";
import { signInstructions } from "./sign-instructions.ts";
import { signPayout } from "./sign-payout.ts";
import { signRefund } from "./sign-refund.ts";
import { signRelease } from "./sign-release.ts";
import { signVoid } from "./sign-void.ts";

let scene: SolanaChainScene;
beforeAll(async () => {
	scene = await solanaChainScene();
});
afterAll(() => scene?.stop());

const native = toSolanaWord(solanaNativeToken);

test("a deposit moves exactly the order's input from the wallet to the escrow, and costs the wallet nothing", async () => {
	const order = scene.order();
	const { escrow } = scene.keys;
	const landed = await scene.deposit(order);
	expect(landed.isFailed).toBe(false);
	expect(landed.message.feePayer).toBe(scene.feePayer.address);
	expect(landed.message.signers).toEqual([scene.feePayer.address, scene.wallet.address]);
	const token = order.inputToken;
	expect(await receivedBy(landed, { owner: escrow.address, token })).toBe(order.inputAmount);
	expect(await receivedBy(landed, { owner: scene.wallet.address, token })).toBe(-order.inputAmount);
	expect(await receivedBy(landed, { owner: scene.wallet.address, token: native })).toBe(0n);
	// The fee is not counted, and there was nothing else.
	expect(await receivedBy(landed, { owner: scene.feePayer.address, token: native })).toBe(0n);
	expect(landed.fee).toBeGreaterThan(0n);
	const holdings = await readHoldings(scene.chain, { commitment: "confirmed" });
	expect(holdings.escrow.get(token)).toBeGreaterThanOrEqual(order.inputAmount);
});

test("a release moves the whole input to the vault once, and no refund lands after it", async () => {
	const order = scene.order();
	await scene.deposit(order);
	await scene.deposit(scene.order());
	const { escrow, vault } = scene.keys;
	const landed = await scene.land(await signRelease({ ...(await scene.parts()), order }));
	expect(landed.isFailed).toBe(false);
	const token = order.inputToken;
	expect(await receivedBy(landed, { owner: vault.address, token })).toBe(order.inputAmount);
	expect(await receivedBy(landed, { owner: escrow.address, token })).toBe(-order.inputAmount);
	const marker = { base: escrow.address, orderId: orderId(order) };
	expect(makesMarker(landed, { ...marker, owner: vault.address })).toBe(true);
	// The escrow still has another's input: what stops these two is the marker.
	const again = await scene.land(await signRelease({ ...(await scene.parts()), order }));
	expect(again.isFailed).toBe(true);
	const refund = await signRefund({ ...(await scene.parts()), order, createsAccount: true });
	expect(await scene.land(refund)).toMatchObject({ isFailed: true });
	expect(await markerOf(order)).toBe("vault");
});

test("a refund moves the whole input to the wallet once, and no release lands after it", async () => {
	const order = scene.order();
	await scene.deposit(order);
	await scene.deposit(scene.order());
	const { escrow } = scene.keys;
	const refund = async () =>
		scene.land(await signRefund({ ...(await scene.parts()), order, createsAccount: false }));
	const landed = await refund();
	expect(landed.isFailed).toBe(false);
	const token = order.inputToken;
	expect(await receivedBy(landed, { owner: scene.wallet.address, token })).toBe(order.inputAmount);
	const marker = { base: escrow.address, orderId: orderId(order) };
	expect(makesMarker(landed, { ...marker, owner: escrow.address })).toBe(true);
	expect(await refund()).toMatchObject({ isFailed: true });
	expect(await scene.land(await signRelease({ ...(await scene.parts()), order }))).toMatchObject({
		isFailed: true,
	});
	expect(await markerOf(order)).toBe("escrow");
});

test.each([
	["payout", "refund"],
	["refund", "payout"],
] as const)("within Solana, of a signed %s and a signed %s only the first one lands", async (...kinds) => {
	const { vault, escrow } = scene.keys;
	const recipient = toSolanaWord((await scene.newWallet()).address);
	const order = withinSolana({ recipient });
	await scene.deposit(order);
	// The escrow has enough for both.
	await scene.deposit(scene.order({ inputToken: order.inputToken }));
	const parts = await scene.parts();
	const signed = {
		payout: await signPayout({ ...parts, order, amount: order.minOutput, createsAccount: true }),
		refund: await signRefund({ ...parts, order, createsAccount: false }),
	};
	const [first, second] = kinds;
	const landed = await scene.land(signed[first]);
	expect(landed.isFailed).toBe(false);
	expect(await scene.land(signed[second])).toMatchObject({ isFailed: true });
	expect(await markerOf(order, vault.address)).toBe(first === "payout" ? "vault" : "escrow");
	expect(await markerOf(order)).toBeUndefined();
	const token = order.inputToken;
	expect(await receivedBy(landed, { owner: escrow.address, token })).toBe(-order.inputAmount);
	expect(
		await receivedBy(landed, { owner: first === "payout" ? vault.address : scene.wallet.address, token }),
	).toBe(order.inputAmount);
});

test("within Solana no void and no release is signed, since each would end the order a second time", async () => {
	const order = withinSolana();
	const parts = await scene.parts();
	await expect(signVoid({ ...parts, order })).rejects.toThrow("only paid or refunded");
	await expect(signRelease({ ...parts, order })).rejects.toThrow("only paid or refunded");
	const destinationVault = toSolanaWord((await scene.newWallet()).address);
	const elsewhere = { ...order, destinationVault };
	await expect(signRefund({ ...parts, order: elsewhere, createsAccount: false })).rejects.toThrow(
		"destination vault",
	);
});

test("a refund of lamports goes back to the wallet", async () => {
	await scene.solana.admin.airdrop({ address: scene.wallet.address, lamports: 3_000_000_000n });
	const order = scene.order({ inputToken: native, inputAmount: 2_000_000_000n });
	const deposit = await scene.deposit(order);
	expect(await receivedBy(deposit, { owner: scene.keys.escrow.address, token: native })).toBe(
		order.inputAmount,
	);
	const refund = await signRefund({ ...(await scene.parts()), order, createsAccount: false });
	const landed = await scene.land(refund);
	expect(await receivedBy(landed, { owner: scene.wallet.address, token: native })).toBe(order.inputAmount);
});

test("a refund creates the wallet's account again if it was closed, at the fee payer's cost", async () => {
	const order = scene.order({ inputToken: toSolanaWord(scene.tokens.usdt) });
	await scene.deposit(order);
	const token = order.inputToken;
	const reading = { wallet: scene.wallet.address, token };
	const { balance } = await readSolanaWallet(scene.chain, reading);
	const account = await tokenAccountOf({ owner: scene.wallet.address, token: scene.tokens.usdt });
	const other = (await scene.newWallet()).address;
	const otherAccount = await scene.solana.admin.mintTo({
		owner: other,
		token: scene.tokens.usdt,
		amount: 1n,
	});
	const emptyAndClose = await signInstructions({
		...(await scene.parts()),
		unitLimit: 50_000,
		instructions: [
			getTransferCheckedInstruction({
				source: account,
				mint: scene.tokens.usdt,
				destination: otherAccount,
				authority: scene.wallet,
				amount: balance,
				decimals: 6,
			}),
			getCloseAccountInstruction({ account, destination: other, owner: scene.wallet }),
		],
	});
	expect(await scene.land(emptyAndClose)).toMatchObject({ isFailed: false });
	expect(await readSolanaWallet(scene.chain, reading)).toMatchObject({ balance: 0n, hasAccount: false });
	const hopeful = await signRefund({ ...(await scene.parts()), order, createsAccount: false });
	expect(await scene.land(hopeful)).toMatchObject({ isFailed: true });
	const landed = await scene.land(
		await signRefund({ ...(await scene.parts()), order, createsAccount: true }),
	);
	expect(landed.isFailed).toBe(false);
	expect(await receivedBy(landed, { owner: scene.wallet.address, token })).toBe(order.inputAmount);
	expect(await receivedBy(landed, { owner: scene.feePayer.address, token: native })).toBe(
		-2n * tokenAccountRentLamports,
	);
	expect(await readSolanaWallet(scene.chain, reading)).toMatchObject({
		balance: order.inputAmount,
		hasAccount: true,
	});
});

test("nothing is signed for an input that is not in this escrow", async () => {
	const parts = await scene.parts();
	const stranger = toSolanaWord((await scene.newWallet()).address);
	const others = [
		[{ originChainId: 31337n }, "not on Solana"],
		[{ escrow: stranger }, "escrow"],
		[{ inputToken: stranger }, "not an asset"],
		[{ inputAmount: 0n }, "no input"],
		[{ wallet: toSolanaWord(scene.keys.escrow.address) }, "our own keys"],
	] as const;
	for (const [change, problem] of others) {
		const order = { ...scene.order(), ...change };
		await expect(signRefund({ ...parts, order, createsAccount: true })).rejects.toThrow(problem);
		await expect(signRelease({ ...parts, order })).rejects.toThrow(problem);
	}
	const order = scene.order({ originVault: stranger });
	await expect(signRelease({ ...parts, order })).rejects.toThrow("origin vault");
});

function withinSolana(terms: Parameters<typeof scene.order>[0] = {}) {
	return scene.order({
		destinationChainId: BigInt(solanaChainId),
		destinationVault: toSolanaWord(scene.chain.deployment.vault),
		inputToken: toSolanaWord(scene.tokens.usdt),
		outputToken: toSolanaWord(scene.tokens.usdc),
		minOutput: 1_000_000n,
		...terms,
	});
}

async function markerOf(order: ReturnType<typeof scene.order>, base = scene.keys.escrow.address) {
	const [owner] = await readMarkers(scene.chain, {
		base,
		orderIds: [orderId(order)],
		commitment: "confirmed",
	});
	return owner;
}
