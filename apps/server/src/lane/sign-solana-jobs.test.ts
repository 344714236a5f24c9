import { type Order, packDeadlines, toSolanaWord } from "@geoswap/protocol";
import { afterAll, beforeEach, expect, test } from "vitest";
import { laggingSolana } from "../../test/lagging-solana.ts";
import { queueWork, readJob } from "../../test/lane-scene.ts";
import {
	depositOrder,
	followSlots,
	mintOf,
	newSolanaWallet,
	payoutOrder,
	signSolanaOp,
} from "../../test/solana-lane-scene.ts";
import { createSolanaLanes, payout } from "../../test/solana-lanes.ts";
import type { Delivery } from "../store/swap-record.ts";

const lanes = await createSolanaLanes();
const {
	pump,
	slots,
	setFaults,
	clear,
	forget,
	woken,
	waitFor,
	queuePayout,
	queueOpen,
	balance,
	decided,
	states,
	transactions,
	scene,
	feePayerOf,
} = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

test("a payout makes the account that the recipient lacks, or gives what that would have cost", async () => {
	const poor = await newSolanaWallet(scene);
	const rich = await newSolanaWallet(scene, [{ symbol: "USDC", amount: 1n }]);
	const orders = [poor, rich].map(({ address }) => payoutOrder(scene, { recipient: toSolanaWord(address) }));
	for (const order of orders)
		await queueWork(scene.pool, order, { kind: "fill", payload: { delivery: payout } });
	const native = payoutOrder(scene, { recipient: toSolanaWord(poor.address), symbol: "SOL" });
	const lamports: Delivery = { kind: "payout", amount: 10_000_000n, unusedRent: 0n };
	await queueWork(scene.pool, native, { kind: "fill", payload: { delivery: lamports } });

	await pump();
	await slots(3);
	expect(await balance(poor.address)).toBe(9_950_000n);
	expect(await balance(rich.address)).toBe(10_250_001n);
	expect(await balance(poor.address, "SOL")).toBe(10_000_000n);
	expect(await decided([...orders, native], "vault")).toEqual(["vault", "vault", "vault"]);
	await pump();
	expect(await states([...orders, native], "fill")).toEqual(["done", "done", "done"]);
	expect(await transactions()).toHaveLength(3);
});

test("a refund gives the whole input back, in an account that is made where the wallet closed its own", async () => {
	const wallet = await newSolanaWallet(scene);
	await scene.solana.admin.mintTo({
		owner: scene.chain.deployment.escrow,
		token: mintOf(scene.chain, "USDC"),
		amount: 10_000_000n,
	});
	const order = depositOrder(scene, { wallet: toSolanaWord(wallet.address) });
	await queueWork(scene.pool, order, { kind: "refund", payload: { attested: false } });
	await pump();
	await slots(3);
	await pump();
	expect(await states([order], "refund")).toEqual(["done"]);
	expect(await balance(wallet.address)).toBe(10_000_000n);
	expect(await decided([order], "escrow")).toEqual(["escrow"]);
});

test("a release takes the input to the vault, and what a chain refuses is owed for ever", async () => {
	const { escrow, vault } = scene.chain.deployment;
	const wallet = await newSolanaWallet(scene);
	const amount = (await balance(escrow)) + 5_000_000n;
	const order = depositOrder(scene, { wallet: toSolanaWord(wallet.address), inputAmount: amount });
	const swapId = await queueWork(scene.pool, order, { kind: "release", payload: {} });
	for (let strikes = 1; strikes <= 4; strikes++) {
		await pump();
		expect(await readJob(scene.pool, swapId, "release")).toMatchObject({ state: "queued", strikes });
		await slots(50);
	}
	await scene.solana.admin.mintTo({ owner: escrow, token: mintOf(scene.chain, "USDC"), amount: 5_000_000n });
	await slots(200);
	const before = await balance(vault);
	await pump();
	await slots(3);
	expect(await balance(vault)).toBe(before + amount);
	expect(await decided([order], "escrow")).toEqual(["vault"]);
});

test("from Solana to Solana the payout takes the input in the same transaction", async () => {
	const { escrow, vault } = scene.chain.deployment;
	const recipient = await newSolanaWallet(scene);
	await scene.solana.admin.mintTo({ owner: escrow, token: mintOf(scene.chain, "USDT"), amount: 10_000_000n });
	const order = depositOrder(scene, {
		wallet: toSolanaWord((await newSolanaWallet(scene)).address),
		symbol: "USDT",
		destinationChainId: BigInt(scene.chain.chainId),
		destinationVault: toSolanaWord(vault),
		outputToken: toSolanaWord(mintOf(scene.chain, "USDC")),
		recipient: toSolanaWord(recipient.address),
	});
	await queueWork(scene.pool, order, { kind: "fill", payload: { delivery: payout } });
	const before = { escrow: await balance(escrow, "USDT"), vault: await balance(vault, "USDT") };
	await pump();
	await slots(3);
	expect(await balance(recipient.address)).toBe(9_950_000n);
	expect(await balance(escrow, "USDT")).toBe(before.escrow - 10_000_000n);
	expect(await balance(vault, "USDT")).toBe(before.vault + 10_000_000n);
});

test("a payout that cannot be is refused, says why, and holds up no other", async () => {
	const nowSeconds = BigInt(Math.floor(Date.now() / 1_000));
	const deadlines = packDeadlines({
		openDeadline: nowSeconds,
		fillDeadline: nowSeconds + 119n,
		refundAfter: nowSeconds + 1_000n,
	});
	const stock = await balance(scene.chain.deployment.vault);
	const cases = [
		{ reason: "liquidity", delivery: { ...payout, amount: stock + 1n } },
		{ reason: "price", delivery: { ...payout, amount: 9_899_999n } },
		{ reason: "too_late", terms: { deadlines } },
		{
			reason: "recipient",
			terms: { symbol: "SOL", minOutput: 1n },
			delivery: { kind: "payout", amount: 890_879n, unusedRent: 0n },
		},
		{ reason: "reverted", delivery: { kind: "stock", amount: 9_950_000n } },
	] as const;
	const swapIds: string[] = [];
	for (const one of cases) {
		const recipient = toSolanaWord((await newSolanaWallet(scene)).address);
		const order = payoutOrder(scene, { recipient, ...("terms" in one ? one.terms : {}) });
		const delivery: Delivery = "delivery" in one ? one.delivery : payout;
		swapIds.push(await queueWork(scene.pool, order, { kind: "fill", payload: { delivery } }));
		await waitFor(order);
	}
	const good = await queuePayout();
	await pump();
	for (const [i, { reason }] of cases.entries()) {
		expect(await readJob(scene.pool, swapIds[i] ?? "", "fill")).toMatchObject({ state: "refused", reason });
	}
	expect(woken().sort()).toEqual(swapIds.sort());
	await slots(3);
	expect(await balance(good.recipient)).toBe(9_950_000n);
	expect(await transactions()).toHaveLength(1);
});

test("several payouts in one run share the stock", async () => {
	const half = (await balance(scene.chain.deployment.vault)) / 2n + 1n;
	const delivery: Delivery = { kind: "payout", amount: half, unusedRent: 0n };
	const orders: Order[] = [];
	for (let i = 0; i < 2; i++) {
		const order = payoutOrder(scene, { recipient: toSolanaWord((await newSolanaWallet(scene)).address) });
		await queueWork(scene.pool, order, { kind: "fill", payload: { delivery } });
		orders.push(order);
	}
	await setFaults({ dropSends: true });
	await pump();
	expect((await states(orders, "fill")).sort()).toEqual(["refused", "sent"]);
});

test("an order of somebody else's vault is never signed for, and holds up no other", async () => {
	const recipient = toSolanaWord((await newSolanaWallet(scene)).address);
	const order = payoutOrder(scene, { recipient, destinationVault: recipient });
	const swapId = await queueWork(scene.pool, order, { kind: "fill", payload: { delivery: payout } });
	const good = await queuePayout();
	for (let strike = 0; strike < 3; strike++) {
		await pump();
		await slots(6);
	}
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "reverted" });
	expect(await balance(good.recipient)).toBe(9_950_000n);
});

test("an op is co-signed by the fee payer that it names, once, and the escrow has the input", async () => {
	const { order } = await queueOpen({ feePayer: 1 });
	const before = await balance(scene.chain.deployment.escrow);
	await pump({ lane: 0 });
	expect(await states([order], "open")).toEqual(["queued"]);
	await pump({ lane: 1 });
	await slots(3);
	expect(await balance(scene.chain.deployment.escrow)).toBe(before + order.inputAmount);
	await pump({ lane: 1 });
	expect(await states([order], "open")).toEqual(["done"]);

	// Forgotten, and taken again: its name is the same, whether it can still land or not.
	const [first] = await transactions();
	for (const passing of [0, 200]) {
		await slots(passing);
		await forget();
		await pump({ lane: 1 });
		const [again, ...others] = await transactions();
		expect(others).toEqual([]);
		expect(again?.hash).toEqual(first?.hash);
		await slots(3);
		await pump({ lane: 1 });
		expect(await states([order], "open")).toEqual(["done"]);
	}
	expect(await balance(scene.chain.deployment.escrow)).toBe(before + order.inputAmount);
});

test("an op that is dead before a lane saw it is refused, and so is one that is not its wallet's", async () => {
	const dead = await queueOpen();
	await slots(200);
	const forged = await queueOpen({ wallet: 1 });
	const other = await signSolanaOp(scene, {
		order: forged.order,
		wallet: await newSolanaWallet(scene),
		feePayer: feePayerOf(0),
	});
	await scene.pool.query(
		"update jobs set payload = jsonb_set(payload, '{op,signature}', to_jsonb($2::text)) where swap_id = $1",
		[forged.swapId, other.signature],
	);
	await pump();
	expect(await readJob(scene.pool, dead.swapId, "open")).toMatchObject({
		state: "refused",
		reason: "expired",
	});
	expect(await readJob(scene.pool, forged.swapId, "open")).toMatchObject({
		state: "refused",
		reason: "reverted",
	});
	expect(await transactions()).toEqual([]);
});

test("an op that was sent before the store was restored is not refused by the word of a node that is behind", async () => {
	const { order } = await queueOpen();
	await pump();
	const { slot } = await followSlots(scene);
	await slots(200);
	await forget();
	await pump({ chain: laggingSolana(scene.chain, { asOf: slot }) });
	expect(await states([order], "open")).toEqual(["queued"]);
	await slots(20);
	await pump();
	await pump();
	expect(await states([order], "open")).toEqual(["done"]);
});

test("an op that its wallet cannot pay for gets three tries, and nothing is sent", async () => {
	const { swapId } = await queueOpen({ inputAmount: 10n ** 15n });
	for (let strike = 0; strike < 3; strike++) {
		await pump();
		await slots(6);
	}
	expect(await readJob(scene.pool, swapId, "open")).toMatchObject({ state: "refused", reason: "reverted" });
	expect(await transactions()).toEqual([]);
});
