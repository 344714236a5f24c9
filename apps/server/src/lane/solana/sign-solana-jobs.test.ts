import { type Order, orderId, packDeadlines, toSolanaWord } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { afterAll, beforeEach, expect, test } from "vitest";
import { makeKeyedAccount } from "../../../test/api/make-keyed-account.ts";
import { queueWork, readJob } from "../../../test/lane/lane-scene.ts";
import {
	depositOrder,
	followLanes,
	followReally,
	followSlots,
	mintOf,
	newSolanaWallet,
	payoutOrder,
	signSolanaOp,
} from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes, payout } from "../../../test/lane/solana-lanes.ts";
import { interceptPool } from "../../../test/service/intercept-pool.ts";
import { giveAccountAway } from "../../../test/solana/give-account-away.ts";
import { laggingSolana } from "../../../test/solana/lagging-solana.ts";
import { markerInstructions } from "../../chain/solana/marker/marker-instructions.ts";
import { readBlockhash } from "../../chain/solana/read/read-blockhash.ts";
import { sendRaw } from "../../chain/solana/send/send-raw.ts";
import { signInstructions } from "../../chain/solana/send/sign-instructions.ts";
import { addOutflows } from "../../money/stock/outflows.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";

const lanes = await createSolanaLanes();
const {
	pump,
	start,
	slots,
	setFaults,
	clear,
	forget,
	woken,
	waitFor,
	queuePayout,
	queueOpen,
	queueSettlement,
	balance,
	decided,
	states,
	transactions,
	scene,
	feePayerOf,
} = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

test("a payout creates the recipient's account if it is missing, or pays out the rent that this would cost", async () => {
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

test("a payout that needs a closed account to reach its minimum is refused as account_gone; one above its minimum is paid less the rent", async () => {
	const [poor, modest] = [await newSolanaWallet(scene), await newSolanaWallet(scene)];
	const counted = payoutOrder(scene, { recipient: toSolanaWord(poor.address), minOutput: 10_000_000n });
	const above = payoutOrder(scene, { recipient: toSolanaWord(modest.address), minOutput: 9_950_000n });
	const swapIds = [];
	for (const order of [counted, above]) {
		swapIds.push(await queueWork(scene.pool, order, { kind: "fill", payload: { delivery: payout } }));
	}
	await pump();
	await slots(3);
	expect(await readJob(scene.pool, swapIds[0] ?? "", "fill")).toMatchObject({
		state: "refused",
		reason: "account_gone",
	});
	expect(await balance(poor.address)).toBe(0n);
	expect(await balance(modest.address)).toBe(9_950_000n);
});

test("a recipient that gave its token account away is blamed at the first try", async () => {
	const recipient = await newSolanaWallet(scene, [{ symbol: "USDC", amount: 1n }]);
	const token = mintOf(scene.chain, "USDC");
	await giveAccountAway(scene.solana, { token, from: recipient, slots: () => slots(3) });
	const order = payoutOrder(scene, { recipient: toSolanaWord(recipient.address) });
	const swapId = await queueWork(scene.pool, order, { kind: "fill", payload: { delivery: payout } });
	await pump();
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "recipient" });
});

test("a refund pays back the whole input, into a new account if the wallet has none", async () => {
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

test("a release moves the input to the vault, and is retried for as long as the chain refuses it", async () => {
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

test("within Solana the payout takes the input in the same transaction", async () => {
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

test("a payout of lamports to an account that a program owns is refused as the recipient's fault", async () => {
	const token = mintOf(scene.chain, "USDC");
	const { address } = await makeKeyedAccount(scene.solana, { token, slots: () => slots(3) });
	const order = payoutOrder(scene, { recipient: toSolanaWord(address), symbol: "SOL" });
	const lamports: Delivery = { kind: "payout", amount: 10_000_000n, unusedRent: 0n };
	const swapId = await queueWork(scene.pool, order, { kind: "fill", payload: { delivery: lamports } });
	await pump();
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "recipient" });
});

test.each([
	["fill", "refund"],
	["refund", "fill"],
] as const)(
	"within Solana, of a %s and a %s by lanes that do not know each other only the first takes effect",
	async (...kinds) => {
		const { escrow, vault } = scene.chain.deployment;
		const [wallet, recipient] = [await newSolanaWallet(scene), await newSolanaWallet(scene)];
		// Enough for both: it is not the balance that stops the second.
		await scene.solana.admin.mintTo({
			owner: escrow,
			token: mintOf(scene.chain, "USDT"),
			amount: 20_000_000n,
		});
		const order = depositOrder(scene, {
			wallet: toSolanaWord(wallet.address),
			symbol: "USDT",
			destinationChainId: BigInt(scene.chain.chainId),
			destinationVault: toSolanaWord(vault),
			outputToken: toSolanaWord(mintOf(scene.chain, "USDC")),
			recipient: toSolanaWord(recipient.address),
		});
		const before = await balance(escrow, "USDT");
		const queue = (kind: (typeof kinds)[number]) =>
			queueWork(
				scene.pool,
				order,
				kind === "fill" ? { kind, payload: { delivery: payout } } : { kind, payload: { attested: false } },
			);
		for (const kind of kinds) {
			await queue(kind);
			await pump();
			expect(await states([order], kind)).toEqual(["sent"]);
			await scene.owner.query("truncate jobs, lane_transactions");
		}
		await slots(3);
		const isPaid = kinds[0] === "fill";
		expect(await balance(recipient.address)).toBe(isPaid ? 9_950_000n : 0n);
		expect(await balance(wallet.address, "USDT")).toBe(isPaid ? 0n : 10_000_000n);
		expect(await balance(escrow, "USDT")).toBe(before - 10_000_000n);

		// Lanes of a restored store find how the order was decided, whatever their jobs ask for.
		for (const kind of kinds) await queue(kind);
		await pump();
		await pump();
		expect(await states([order], kinds[0])).toEqual(["done"]);
		expect(await states([order], kinds[1])).toEqual([isPaid ? "queued" : "refused"]);
		expect(await transactions()).toMatchObject([{ kind: kinds[0], raw: Buffer.alloc(0) }]);
	},
);

test("an order within Solana that an earlier version voided is refunded once, when the void is final", async () => {
	const { chain, keys } = scene;
	const { escrow, vault } = chain.deployment;
	const [wallet, recipient] = [await newSolanaWallet(scene), await newSolanaWallet(scene)];
	const token = mintOf(chain, "USDT");
	await scene.solana.admin.mintTo({ owner: escrow, token, amount: 20_000_000n });
	const order = depositOrder(scene, {
		wallet: toSolanaWord(wallet.address),
		symbol: "USDT",
		destinationChainId: BigInt(chain.chainId),
		destinationVault: toSolanaWord(vault),
		outputToken: toSolanaWord(mintOf(chain, "USDC")),
		recipient: toSolanaWord(recipient.address),
	});
	const [feePayer] = keys.feePayers;
	if (!feePayer) throw new Error("the devnet has no fee payer");
	const { blockhash } = await readBlockhash(chain);
	const { raw } = await signInstructions({
		feePayer,
		blockhash,
		computePrice: 0n,
		unitLimit: 50_000,
		instructions: await markerInstructions({
			feePayer,
			base: keys.vault,
			orderId: orderId(order),
			owner: escrow,
		}),
	});
	await sendRaw(chain, raw);
	await slots(3);
	await queueWork(scene.pool, order, { kind: "refund", payload: { attested: false } });
	await pump();
	expect(await states([order], "refund")).toEqual(["queued"]);

	await slots(40);
	await pump();
	await slots(3);
	await pump();
	expect(await states([order], "refund")).toEqual(["done"]);
	expect(await balance(wallet.address, "USDT")).toBe(10_000_000n);
	expect(await decided([order], "escrow")).toEqual(["escrow"]);

	// A store that lost the transaction finds the refund, and pays nothing again.
	await forget();
	await pump();
	await pump();
	expect(await states([order], "refund")).toEqual(["done"]);
	expect(await balance(wallet.address, "USDT")).toBe(10_000_000n);
});

test("a payout that cannot be made is refused with the reason, and blocks no other", async () => {
	const nowSeconds = BigInt(Math.floor(Date.now() / 1_000));
	const deadlines = packDeadlines({
		openDeadline: nowSeconds,
		fillDeadline: nowSeconds + 119n,
		refundAfter: nowSeconds + 1_000n,
	});
	const stock = await balance(scene.chain.deployment.vault);
	const cases = [
		{ reason: "liquidity", delivery: { ...payout, amount: stock + 1n } },
		{ reason: "price", delivery: { ...payout, amount: 9_599_999n } },
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
	expect((await woken()).sort()).toEqual(swapIds.sort());
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

test("an order of a foreign vault is never signed, and blocks no other", async () => {
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

test("an op is co-signed once, by the fee payer that it names, and the escrow gets the input", async () => {
	const { order } = await queueOpen({ feePayer: 1 });
	const before = await balance(scene.chain.deployment.escrow);
	await pump({ lane: 0 });
	expect(await states([order], "open")).toEqual(["queued"]);
	await pump({ lane: 1 });
	await slots(3);
	expect(await balance(scene.chain.deployment.escrow)).toBe(before + order.inputAmount);
	await pump({ lane: 1 });
	expect(await states([order], "open")).toEqual(["done"]);

	// The op is lost from the store and taken again: its signature is the same, whether it can still land or not.
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

test("an op that expired before a lane saw it, or that its wallet did not sign, is refused", async () => {
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

test("an op that was sent before the store was restored is not refused because of a lagging node", async () => {
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

test("an op that its wallet cannot pay for is refused after three tries, and nothing is sent", async () => {
	const { swapId } = await queueOpen({ inputAmount: 10n ** 15n });
	for (let strike = 0; strike < 3; strike++) {
		await pump();
		await slots(6);
	}
	expect(await readJob(scene.pool, swapId, "open")).toMatchObject({ state: "refused", reason: "reverted" });
	expect(await transactions()).toEqual([]);
});

test("payouts that landed, are signed by any lane or are planned stay within the vault's hourly cap", async () => {
	const outflowCaps = { USDC: "30" };
	const payouts = [];
	for (let i = 0; i < 4; i++) payouts.push(await queuePayout());
	const orders = payouts.map(({ order }) => order);
	await setFaults({ dropSends: true });
	// Two lanes run at once, then one after them: each payout takes 10.25 of 30, if none is left out of the count.
	await followLanes(scene);
	await Promise.all([0, 1].map((lane) => start({ bundleSize: 2, outflowCaps })(lane)));
	await pump({ outflowCaps });
	expect((await states(orders, "fill")).sort()).toEqual(["refused", "refused", "sent", "sent"]);
	const refused = await Promise.all(payouts.map(({ swapId }) => readJob(scene.pool, swapId, "fill")));
	expect(refused.flatMap(({ reason }) => reason ?? [])).toEqual(["liquidity", "liquidity"]);

	// Past outflows count for an hour.
	await clear();
	await scene.owner.query("truncate outflows");
	await addOutflows(scene.pool, {
		chainId: scene.chain.chainId,
		timestamp: Math.floor(Date.now() / 1_000),
		outflows: [{ token: toSolanaWord(mintOf(scene.chain, "USDC")), amount: 25_000_000n }],
	});
	const { swapId } = await queuePayout();
	await pump({ outflowCaps });
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "liquidity" });
	await scene.owner.query("truncate outflows");
	await queuePayout();
	await pump({ outflowCaps });
	expect(await transactions()).toHaveLength(1);
});

test("a payout that lands while a lane counts still counts against the cap", async () => {
	const outflowCaps = { USDC: "20" };
	await scene.owner.query("truncate outflows");
	const first = await queuePayout();
	await pump({ outflowCaps });
	await slots(3);
	expect(await decided([first.order], "vault")).toEqual(["vault"]);
	expect(await states([first.order], "fill")).toEqual(["sent"]);
	const second = await queuePayout();
	let lands = 0;
	const pool = interceptPool(scene.pool, {
		after: async (statement) => {
			if (/from outflows|join reservations/.test(statement) && lands++ === 0) await followReally(scene);
		},
	});
	await start({ pool, outflowCaps })();
	expect(await states([first.order], "fill")).toEqual(["done"]);
	expect(await readJob(scene.pool, second.swapId, "fill")).toMatchObject({
		state: "refused",
		reason: "liquidity",
	});
});

test("neither a refund nor a payout is signed for a deposit that was never seen", async () => {
	const { order, swapId } = await queueSettlement("refund");
	const paid = await queuePayout();
	await scene.pool.query("delete from chain_events where order_id = any($1)", [
		[order, paid.order].map((one) => hexToBytes(orderId(one))),
	]);
	await pump();
	expect(await readJob(scene.pool, swapId, "refund")).toMatchObject({ state: "queued", strikes: 0 });
	expect(await readJob(scene.pool, paid.swapId, "fill")).toMatchObject({ state: "queued", strikes: 0 });
	expect(await transactions()).toEqual([]);
});
