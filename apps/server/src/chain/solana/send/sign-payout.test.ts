import {
	emptyAccountRentLamports,
	markerAddress,
	orderId,
	solanaChainId,
	solanaNativeToken,
	tokenAccountOf,
	tokenAccountRentLamports,
	toSolanaWord,
} from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SolanaChainScene, solanaChainScene } from "../../../../test/solana/solana-chain-scene.ts";
import { makesMarker } from "../marker/makes-marker.ts";
import { readMarkers } from "../marker/read-markers.ts";
import { readHoldings } from "../read/read-holdings.ts";
import type { Landed } from "../read/read-landed.ts";
import { readSolanaWallet } from "../read/read-solana-wallet.ts";
import { receivedBy } from "../read/received-by.ts";
import { signPayout } from "./sign-payout.ts";
import { signVoid } from "./sign-void.ts";

let scene: SolanaChainScene;
beforeAll(async () => {
	scene = await solanaChainScene();
});
afterAll(() => scene?.stop());

const native = toSolanaWord(solanaNativeToken);
const amount = 5_000_000n;

test("a payout transfers exactly its amount, creates the recipient's account, and marks the order as paid", async () => {
	const { vault } = scene.keys;
	const recipient = (await scene.newWallet()).address;
	const order = scene.orderTo(recipient);
	const before = await readHoldings(scene.chain, { commitment: "confirmed" });
	const landed = await scene.land(
		await signPayout({ ...(await scene.parts()), order, amount, createsAccount: true }),
	);
	expect(landed.isFailed).toBe(false);
	expect(await receivedBy(landed, { owner: recipient, token: order.outputToken })).toBe(amount);
	expect(await receivedBy(landed, { owner: vault.address, token: order.outputToken })).toBe(-amount);
	expect(await receivedBy(landed, { owner: vault.address, token: native })).toBe(0n);
	// Two accounts were made: the recipient's and the marker.
	expect(await receivedBy(landed, { owner: scene.feePayer.address, token: native })).toBe(
		-2n * tokenAccountRentLamports,
	);
	expect(makesMarker(landed, { base: vault.address, orderId: orderId(order), owner: vault.address })).toBe(
		true,
	);
	expect(await markerOf(order)).toBe("vault");
	expect(await readSolanaWallet(scene.chain, { wallet: recipient, token: order.outputToken })).toEqual({
		balance: amount,
		lamports: 0n,
		hasAccount: true,
		payProblem: undefined,
	});
	const after = await readHoldings(scene.chain, { commitment: "confirmed" });
	expect(after.slot).toBeGreaterThan(before.slot);
	expect(held(before, order.outputToken) - held(after, order.outputToken)).toBe(amount);
});

test("a payout that creates no account lands only if the recipient has one", async () => {
	const owner = (await scene.newWallet()).address;
	const order = scene.orderTo(owner);
	const unmade = await scene.land(
		await signPayout({ ...(await scene.parts()), order, amount, createsAccount: false }),
	);
	expect(unmade.isFailed).toBe(true);
	expect(await receivedBy(unmade, { owner: scene.keys.vault.address, token: order.outputToken })).toBe(0n);
	expect(await receivedBy(unmade, { owner: scene.feePayer.address, token: native })).toBe(0n);
	expect(await markerOf(order)).toBeUndefined();
	await scene.solana.admin.mintTo({ owner, token: scene.tokens.usdc, amount: 7n });
	const made = await scene.land(
		await signPayout({ ...(await scene.parts()), order, amount, createsAccount: false }),
	);
	expect(made.isFailed).toBe(false);
	expect(await receivedBy(made, { owner, token: order.outputToken })).toBe(amount);
	expect(await receivedBy(made, { owner: scene.feePayer.address, token: native })).toBe(
		-tokenAccountRentLamports,
	);
});

test("of two concurrent payouts of one order with different blockhashes, one lands", async () => {
	const recipient = (await scene.newWallet()).address;
	const order = scene.orderTo(recipient);
	const first = await scene.parts();
	let second = await scene.parts();
	await expect
		.poll(async () => {
			second = await scene.parts();
			return second.blockhash;
		})
		.not.toBe(first.blockhash);
	const signed = await Promise.all(
		[first, second].map((parts) => signPayout({ ...parts, order, amount, createsAccount: true })),
	);
	const landed = await Promise.all(signed.map(scene.land));
	expect(landed.map(({ isFailed }) => isFailed).sort()).toEqual([false, true]);
	const { balance } = await readSolanaWallet(scene.chain, { wallet: recipient, token: order.outputToken });
	expect(balance).toBe(amount);
});

test("after a void no payout lands, and after a payout no void", async () => {
	const recipient = (await scene.newWallet()).address;
	const [voided, paid] = [scene.orderTo(recipient), scene.orderTo(recipient)];
	const { escrow, vault } = scene.keys;
	const closing = await scene.land(await signVoid({ ...(await scene.parts()), order: voided }));
	expect(closing.isFailed).toBe(false);
	const marker = { base: vault.address, orderId: orderId(voided) };
	expect(makesMarker(closing, { ...marker, owner: escrow.address })).toBe(true);
	expect(makesMarker(closing, { ...marker, owner: vault.address })).toBe(false);
	expect(await receivedBy(closing, { owner: scene.feePayer.address, token: native })).toBe(
		-tokenAccountRentLamports,
	);
	expect(await tryPayout(voided)).toMatchObject({ isFailed: true });
	expect(await tryPayout(paid)).toMatchObject({ isFailed: false });
	expect(await scene.land(await signVoid({ ...(await scene.parts()), order: paid }))).toMatchObject({
		isFailed: true,
	});
	expect(await markerOf(voided)).toBe("escrow");
	expect(await markerOf(paid)).toBe("vault");
	const { balance } = await readSolanaWallet(scene.chain, { wallet: recipient, token: paid.outputToken });
	expect(balance).toBe(amount);
});

test("lamports at a marker's address neither mark the order nor block its payout", async () => {
	const { vault } = scene.keys;
	const recipient = (await scene.newWallet()).address;
	const order = scene.orderTo(recipient);
	const address = await markerAddress({ base: vault.address, orderId: orderId(order) });
	await scene.solana.admin.airdrop({ address, lamports: 3n * emptyAccountRentLamports });
	expect(await markerOf(order)).toBeUndefined();
	const landed = await tryPayout(order);
	expect(landed.isFailed).toBe(false);
	expect(await markerOf(order)).toBe("vault");
});

test("lamports can be paid to a new wallet", async () => {
	const recipient = (await scene.newWallet()).address;
	const lamports = emptyAccountRentLamports;
	const order = scene.orderTo(recipient, { outputToken: native, minOutput: lamports });
	const landed = await scene.land(
		await signPayout({ ...(await scene.parts()), order, amount: lamports, createsAccount: false }),
	);
	expect(landed.isFailed).toBe(false);
	expect(await receivedBy(landed, { owner: recipient, token: native })).toBe(lamports);
	expect(await receivedBy(landed, { owner: scene.keys.vault.address, token: native })).toBe(-lamports);
	expect(await readSolanaWallet(scene.chain, { wallet: recipient, token: native })).toEqual({
		balance: lamports,
		lamports,
		hasAccount: true,
		payProblem: undefined,
	});
});

test("within Solana one transaction pays the output and takes the input, both or neither", async () => {
	const recipient = (await scene.newWallet()).address;
	const order = scene.order({
		destinationChainId: BigInt(solanaChainId),
		destinationVault: toSolanaWord(scene.chain.deployment.vault),
		recipient: toSolanaWord(recipient),
		inputToken: toSolanaWord(scene.tokens.usdt),
		outputToken: toSolanaWord(scene.tokens.usdc),
		minOutput: 1_000_000n,
	});
	const { escrow, vault } = scene.keys;
	// The input is not there yet.
	expect(await tryPayout(order)).toMatchObject({ isFailed: true });
	expect(await readSolanaWallet(scene.chain, { wallet: recipient, token: order.outputToken })).toMatchObject({
		hasAccount: false,
	});
	const deposit = await scene.deposit(order);
	expect(await receivedBy(deposit, { owner: escrow.address, token: order.inputToken })).toBe(
		order.inputAmount,
	);
	const signed = await signPayout({ ...(await scene.parts()), order, amount, createsAccount: true });
	// The largest transaction of all.
	expect(hexToBytes(signed.raw).length).toBeLessThanOrEqual(1232);
	const landed = await scene.land(signed);
	expect(landed.isFailed).toBe(false);
	const moved = await Promise.all([
		receivedBy(landed, { owner: recipient, token: order.outputToken }),
		receivedBy(landed, { owner: vault.address, token: order.outputToken }),
		receivedBy(landed, { owner: escrow.address, token: order.inputToken }),
		receivedBy(landed, { owner: vault.address, token: order.inputToken }),
	]);
	expect(moved).toEqual([amount, -amount, -order.inputAmount, order.inputAmount]);
	expect(makesMarker(landed, { base: vault.address, orderId: orderId(order), owner: vault.address })).toBe(
		true,
	);
});

test("no payout is signed below the order's minimum, or for an order of others", async () => {
	const recipient = (await scene.newWallet()).address;
	const order = scene.orderTo(recipient);
	const pay = async (changed: Partial<typeof order>, paid = amount) =>
		signPayout({
			...(await scene.parts()),
			order: { ...order, ...changed },
			amount: paid,
			createsAccount: true,
		});
	await expect(pay({}, order.minOutput - 1n)).rejects.toThrow("less than the order's");
	await expect(pay({ destinationVault: toSolanaWord(recipient) })).rejects.toThrow("destination vault");
	await expect(pay({ destinationChainId: 31337n })).rejects.toThrow("not on Solana");
	await expect(pay({ outputToken: toSolanaWord(recipient) })).rejects.toThrow("not an asset");
	await expect(pay({ recipient: toSolanaWord(scene.keys.vault.address) })).rejects.toThrow("our own keys");
});

test("a received token counts only for its owner and its mint", async () => {
	const recipient = (await scene.newWallet()).address;
	const landed = await tryPayout(scene.orderTo(recipient));
	const account = await tokenAccountOf({ owner: recipient, token: scene.tokens.usdc });
	const others = await Promise.all([
		receivedBy(landed, { owner: account, token: toSolanaWord(scene.tokens.usdc) }),
		receivedBy(landed, { owner: recipient, token: toSolanaWord(scene.tokens.usdt) }),
		receivedBy(landed, { owner: recipient, token: native }),
	]);
	expect(others).toEqual([0n, 0n, 0n]);
});

async function tryPayout(order: ReturnType<typeof scene.orderTo>): Promise<Landed> {
	return scene.land(await signPayout({ ...(await scene.parts()), order, amount, createsAccount: true }));
}

async function markerOf(order: ReturnType<typeof scene.orderTo>) {
	const base = scene.keys.vault.address;
	const [owner] = await readMarkers(scene.chain, {
		base,
		orderIds: [orderId(order)],
		commitment: "confirmed",
	});
	return owner;
}

function held(holdings: Awaited<ReturnType<typeof readHoldings>>, token: `0x${string}`): bigint {
	return holdings.vault.get(token) ?? -1n;
}
