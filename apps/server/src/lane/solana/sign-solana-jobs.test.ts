import { packDeadlines, toSolanaWord } from "@geoswap/protocol";
import { zeroHash } from "viem";
import { afterAll, beforeEach, expect, test } from "vitest";
import { makeKeyedAccount } from "../../../test/api/make-keyed-account.ts";
import { readJob } from "../../../test/lane/lane-scene.ts";
import { followSlots, mintOf, newSolanaWallet, signSolanaOp } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes, payout } from "../../../test/lane/solana-lanes.ts";
import { giveAccountAway } from "../../../test/solana/give-account-away.ts";
import { laggingSolana } from "../../../test/solana/lagging-solana.ts";
import { readVault } from "../../chain/solana/program/read-vault.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";

const lanes = await createSolanaLanes();
const { runLane, slots, setFaults, clear, forget, woken, queuePayout, queueOpen, queueWithin } = lanes;
const { balance, outcomeOf, states, transactions, scene, feePayerOf } = lanes;
const { vault } = scene.chain.deployment.program;
const lamports: Delivery = { kind: "payout", amount: 10_000_000n, unusedRent: 0n };
beforeEach(() => clear());
afterAll(() => lanes.stop());

test("a payout creates the recipient's account if it is missing, or pays out the rent that this would cost", async () => {
	const rich = toSolanaWord((await newSolanaWallet(scene, [{ symbol: "USDC", amount: 1n }])).address);
	const [first, second] = [await queuePayout(), await queuePayout({ recipient: rich })];
	const third = await queuePayout({ symbol: "SOL" }, lamports);
	await runLane();
	await slots(3);
	expect(await balance(first.recipient)).toBe(9_950_000n);
	expect(await balance(second.recipient)).toBe(10_250_001n);
	expect(await balance(third.recipient, "SOL")).toBe(10_000_000n);
	await runLane();
	for (const { order } of [first, second, third]) {
		expect(await states([order], "fill")).toEqual(["done"]);
		expect(await outcomeOf(order)).toBe("filled");
	}
	expect(await transactions()).toHaveLength(3);
});

test("a payout that needs a closed account to reach its minimum is refused as account_gone; one above its minimum is paid less the rent", async () => {
	const counted = await queuePayout({ minOutput: 10_000_000n });
	const above = await queuePayout({ minOutput: 9_950_000n });
	await runLane();
	await slots(3);
	const refused = { state: "refused", reason: "account_gone" };
	expect(await readJob(scene.pool, counted.swapId, "fill")).toMatchObject(refused);
	expect(await balance(counted.recipient)).toBe(0n);
	expect(await balance(above.recipient)).toBe(9_950_000n);
});

test("a recipient that gave its token account away gets a failure at the first try", async () => {
	const recipient = await newSolanaWallet(scene, [{ symbol: "USDC", amount: 1n }]);
	const token = mintOf(scene.chain, "USDC");
	await giveAccountAway(scene.solana, { token, from: recipient, slots: () => slots(3) });
	const { swapId } = await queuePayout({ recipient: toSolanaWord(recipient.address) });
	await runLane();
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "recipient" });
});

test("within Solana the payout takes the input in the same transaction", async () => {
	const { order, recipient } = await queueWithin("fill");
	const before = { USDC: await balance(vault), USDT: await balance(vault, "USDT") };
	await runLane();
	await slots(3);
	expect(await balance(recipient, "USDT")).toBe(9_950_000n);
	expect(await balance(vault)).toBe(before.USDC + 10_000_000n);
	expect(await balance(vault, "USDT")).toBe(before.USDT - 9_950_000n);
	expect(await outcomeOf(order)).toBe("released, paid");
	expect(await transactions()).toHaveLength(1);
});

test("a payout of lamports to an account that a program owns is refused as the recipient's fault", async () => {
	const token = mintOf(scene.chain, "USDC");
	const { address } = await makeKeyedAccount(scene.solana, { token, slots: () => slots(3) });
	const { swapId } = await queuePayout({ recipient: toSolanaWord(address), symbol: "SOL" }, lamports);
	await runLane();
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "recipient" });
});

test("a payout that cannot be made is refused with the reason, and blocks no other", async () => {
	const nowSeconds = BigInt(Math.floor(Date.now() / 1_000));
	const deadlines = packDeadlines({
		openDeadline: nowSeconds,
		fillDeadline: nowSeconds + 19n,
		refundAfter: nowSeconds + 1_000n,
	});
	const inventory = await balance(vault);
	const cases = [
		{ reason: "liquidity", delivery: { ...payout, amount: inventory + 1n } },
		{ reason: "price", delivery: { ...payout, amount: 9_599_999n } },
		{ reason: "too_late", terms: { deadlines } },
		{
			reason: "recipient",
			terms: { symbol: "SOL", minOutput: 1n },
			delivery: { kind: "payout", amount: 890_879n, unusedRent: 0n },
		},
		{ reason: "reverted", delivery: { kind: "inventory", amount: 9_950_000n } },
	] as const;
	const swapIds: string[] = [];
	for (const one of cases) {
		const delivery: Delivery = "delivery" in one ? one.delivery : payout;
		swapIds.push((await queuePayout("terms" in one ? one.terms : {}, delivery)).swapId);
	}
	const good = await queuePayout();
	await runLane();
	for (const [i, { reason }] of cases.entries()) {
		expect(await readJob(scene.pool, swapIds[i] ?? "", "fill")).toMatchObject({ state: "refused", reason });
	}
	expect((await woken()).sort()).toEqual(swapIds.sort());
	await slots(3);
	expect(await balance(good.recipient)).toBe(9_950_000n);
	expect(await transactions()).toHaveLength(1);
});

test("several payouts in one run share the amount that may leave the vault", async () => {
	const { payable } = await readVault(scene.chain, { commitment: "confirmed" });
	const half = (payable.get(toSolanaWord(mintOf(scene.chain, "USDC"))) ?? 0n) / 2n + 1n;
	const delivery: Delivery = { kind: "payout", amount: half, unusedRent: 0n };
	const orders = [(await queuePayout({}, delivery)).order, (await queuePayout({}, delivery)).order];
	await setFaults({ dropSends: true });
	await runLane();
	expect((await states(orders, "fill")).sort()).toEqual(["refused", "sent"]);
});

test("payouts and top-ups in one run share the SOL that may leave the vault", async () => {
	const { payable } = await readVault(scene.chain, { commitment: "confirmed" });
	const half = (payable.get(zeroHash) ?? 0n) / 2n + 1n;
	const topped = [await queuePayout({ topUp: half }), await queuePayout({ topUp: half })];
	const inSol = await queuePayout({ symbol: "SOL" }, { kind: "payout", amount: half, unusedRent: 0n });
	await setFaults({ dropSends: true });
	await runLane();
	const orders = [...topped, inSol].map(({ order }) => order);
	expect((await states(orders, "fill")).sort()).toEqual(["refused", "refused", "sent"]);
});

test("an order of a foreign vault is never signed, and blocks no other", async () => {
	const { address } = await newSolanaWallet(scene);
	const { swapId } = await queuePayout({ destinationVault: toSolanaWord(address) });
	const good = await queuePayout();
	for (let failure = 0; failure < 3; failure++) {
		await runLane();
		await slots(6);
	}
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "reverted" });
	expect(await balance(good.recipient)).toBe(9_950_000n);
});

test("an op is co-signed once, by the fee payer that it names, and the order gets the input", async () => {
	const { order, wallet } = await queueOpen({ feePayer: 1 });
	const before = await balance(wallet);
	await runLane({ lane: 0 });
	expect(await states([order], "open")).toEqual(["queued"]);
	await runLane({ lane: 1 });
	await slots(3);
	expect(await balance(wallet)).toBe(before - order.inputAmount);
	expect(await outcomeOf(order)).toBe("opened");
	await runLane({ lane: 1 });
	expect(await states([order], "open")).toEqual(["done"]);

	// The op is lost from the store and taken again. Its signature is the same, whether it can still land or not.
	const [first] = await transactions();
	for (const passing of [0, 200]) {
		await slots(passing);
		await forget();
		await runLane({ lane: 1 });
		const [again, ...others] = await transactions();
		expect(others).toEqual([]);
		expect(again?.hash).toEqual(first?.hash);
		await slots(3);
		await runLane({ lane: 1 });
		expect(await states([order], "open")).toEqual(["done"]);
	}
	expect(await balance(wallet)).toBe(before - order.inputAmount);
	expect(await outcomeOf(order)).toBe("opened");
});

test("an op that expired before a lane took it, or that its wallet did not sign, is refused", async () => {
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
	await runLane();
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

test("an op that was sent before the store was restored is not refused because of a lagging node", async () => {
	const { order } = await queueOpen();
	await runLane();
	const { slot } = await followSlots(scene);
	await slots(200);
	await forget();
	await runLane({ chain: laggingSolana(scene.chain, { asOf: slot }) });
	expect(await states([order], "open")).toEqual(["queued"]);
	await slots(20);
	await runLane();
	await runLane();
	expect(await states([order], "open")).toEqual(["done"]);
});

test("an op that its wallet cannot pay for is refused after three tries, and nothing is sent", async () => {
	const { swapId } = await queueOpen({ inputAmount: 10n ** 15n });
	for (let failure = 0; failure < 3; failure++) {
		await runLane();
		await slots(6);
	}
	expect(await readJob(scene.pool, swapId, "open")).toMatchObject({ state: "refused", reason: "reverted" });
	expect(await transactions()).toEqual([]);
});

test("no payout is signed for a deposit that was never observed", async () => {
	const { swapId } = await queuePayout();
	await scene.pool.query("delete from chain_events");
	await runLane();
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "queued", failures: 0 });
	expect(await transactions()).toEqual([]);
});

test("a payout that exceeds the vault's cap when it lands moves nothing, and is then refused for liquidity", async () => {
	const { vault: account } = await readVault(scene.chain, { commitment: "confirmed" });
	const token = mintOf(scene.chain, "USDC");
	const cap = account.caps.find((one) => one.token === token)?.perHour ?? 0n;
	await scene.solana.admin.mintTo({ owner: vault, token, amount: cap });
	const large = { kind: "payout", amount: (cap * 3n) / 4n, unusedRent: 0n } as const;
	const first = await queuePayout({}, large);
	await runLane();
	// The first is in no block yet.
	const second = await queuePayout({}, large);
	await runLane({ lane: 1 });
	expect(await states([first.order, second.order], "fill")).toEqual(["sent", "sent"]);
	await slots(3);
	await runLane();
	await slots(20);
	await runLane();
	expect(await balance(first.recipient)).toBe(large.amount);
	expect(await balance(second.recipient)).toBe(0n);
	const refused = { state: "refused", reason: "liquidity" };
	expect(await readJob(scene.pool, second.swapId, "fill")).toMatchObject(refused);
});
