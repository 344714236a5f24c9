import {
	accountRentLamports,
	fromSwapKey,
	orderId,
	orderToJson,
	programAccountSizes,
	setVaultCap,
	solanaNativeToken,
	tokenAccountRentLamports,
	toSolanaWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, generateKeyPairSigner } from "@solana/kit";
import { hexToBytes, parseUnits } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createSolanaFollowScene, type SolanaFollowScene } from "../../../test/follow/solana-follow-scene.ts";
import { mintOf, newSolanaWallet } from "../../../test/lane/solana-lane-scene.ts";
import { readLanded } from "../../chain/solana/read/read-landed.ts";
import { toSignature } from "../../chain/solana/read/read-statuses.ts";
import { FinalityBrokenError } from "../evm/undo-blocks.ts";

let scene: SolanaFollowScene;
beforeAll(async () => {
	scene = await createSolanaFollowScene();
});
afterAll(() => scene?.stop());
beforeEach(() => {
	scene.poked.length = 0;
});
afterEach(() => scene.admin.setFaults({}));

test("each transaction becomes the event that a contract would emit, finishes its job and wakes its waiting swap", async () => {
	const opened = scene.deposit();
	await scene.wait(opened);
	await scene.actions.landed(await scene.actions.open(opened, scene.wallet));
	await scene.follow();
	const orderRent = String(accountRentLamports(programAccountSizes.order) + tokenAccountRentLamports);
	const { openDeadline } = unpackDeadlines(opened.deadlines);
	expect(await scene.eventsOf(opened)).toMatchObject([
		{ name: "Opened", data: { order: orderToJson(opened) } },
		{ name: "RentPaid", data: { account: "order", lamports: orderRent, closableAt: Number(openDeadline) } },
	]);
	expect(await scene.jobOf(opened, "open")).toMatchObject({ state: "done" });
	expect(await scene.takeDue()).toEqual([orderId(opened)]);

	const recipient = await generateKeyPairSigner();
	const filled = scene.payout({ recipient: toSolanaWord(recipient.address) });
	const voided = scene.payout();
	const sent = [
		await scene.actions.decide("release", opened),
		await scene.actions.fill(filled, 9_950_000n, { createsAccount: true }),
		await scene.actions.decide("void", voided),
	];
	for (const transaction of sent) await scene.actions.landed(transaction);
	await scene.follow();
	expect(await scene.namesOf(opened)).toEqual(["Opened", "RentPaid", "Released"]);
	expect((await scene.eventsOf(opened))[2]?.data).toEqual({ paid: true });
	const recordRent = { account: "record", lamports: String(accountRentLamports(programAccountSizes.record)) };
	expect(await scene.eventsOf(filled)).toMatchObject([
		{
			name: "Filled",
			data: { delivered: "9950000", spent: "9950000", spentToken: toSolanaWord(mintOf(scene.chain, "USDC")) },
		},
		{ name: "RentPaid", data: recordRent },
		{ name: "AccountMade", data: { lamports: String(tokenAccountRentLamports) } },
	]);
	expect(await scene.eventsOf(voided)).toMatchObject([
		{ name: "Voided", data: {} },
		{ name: "RentPaid", data: recordRent },
	]);

	const swapped = scene.onOneChain();
	const refunded = scene.deposit();
	const refundedHere = scene.onOneChain();
	for (const order of [swapped, refunded, refundedHere])
		await scene.actions.landed(await scene.actions.open(order, scene.wallet));
	const decided = [
		await scene.actions.fill(swapped, 9_990_000n),
		await scene.actions.decide("refund", refunded),
		await scene.actions.decide("refund", refundedHere),
	];
	for (const transaction of decided) await scene.actions.landed(transaction);
	await scene.follow();
	expect(await scene.namesOf(swapped)).toEqual(["Opened", "RentPaid", "Filled", "Released"]);
	expect((await scene.eventsOf(swapped))[2]?.data).toMatchObject({ delivered: "9990000", spent: "9990000" });
	expect(await scene.namesOf(refunded)).toEqual(["Opened", "RentPaid", "Refunded"]);
	expect(await scene.eventsOf(refundedHere)).toMatchObject([
		{ name: "Opened" },
		{ name: "RentPaid", data: { account: "order", lamports: orderRent } },
		{ name: "Refunded", data: { paid: true } },
	]);
	for (const [order, kind] of [
		[opened, "release"],
		[filled, "fill"],
		[voided, "void"],
		[swapped, "fill"],
		[refunded, "refund"],
		[refundedHere, "refund"],
	] as const) {
		expect(await scene.jobOf(order, kind)).toMatchObject({ state: "done" });
	}
});

test("a failed transaction costs its fee and a failure, and a failed deposit is refused immediately", async () => {
	await scene.admin.setFaults({ stallFinality: true });
	const order = scene.payout();
	await scene.actions.landed(await scene.actions.fill(order, 9_950_000n));
	await scene.follow();
	await scene.pool.query("update jobs set state = 'queued' where swap_id = $1", [fromSwapKey(order.swapKey)]);
	// The record exists, so every further fill fails.
	for (const [failures, state] of [
		[1, "queued"],
		[2, "queued"],
		[3, "refused"],
	]) {
		const second = await scene.actions.fill(order, 9_950_000n + BigInt(Number(failures)));
		await scene.actions.landed(second);
		await scene.follow();
		expect(await scene.jobOf(order, "fill")).toMatchObject({ state, failures });
		const { fee } = (await readLanded(scene.chain, second.signature)) ?? {};
		expect(await scene.transactionOf(second)).toMatchObject({ state: "mined", gas_cost: fee });
	}
	expect(await scene.namesOf(order)).toEqual(["Filled", "RentPaid"]);

	const poor = await newSolanaWallet(scene, [{ symbol: "USDC", amount: 1n }]);
	const unfunded = scene.deposit({ wallet: toSolanaWord(poor.address) });
	await scene.actions.landed(await scene.actions.open(unfunded, poor));
	await scene.follow();
	expect(await scene.jobOf(unfunded, "open")).toEqual({ state: "refused", failures: 1, reason: "reverted" });
	expect(await scene.namesOf(unfunded)).toEqual([]);
	expect(scene.poked.map(({ key }) => key)).toContain(`${scene.chain.chainId}:${scene.actions.relayer}`);
});

test("concurrent followers write each event once", async () => {
	const order = scene.deposit();
	await scene.actions.landed(await scene.actions.open(order, scene.wallet));
	const results = await Promise.allSettled([scene.follow(), scene.follow(), scene.follow()]);
	expect(results.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
	for (const result of results) {
		if (result.status === "rejected") expect(String(result.reason)).toContain("does not follow the head");
	}
	await scene.follow();
	expect(await scene.namesOf(order)).toEqual(["Opened", "RentPaid"]);
});

test("events of a dropped transaction are deleted, and written again when it lands again", async () => {
	await scene.admin.setFaults({ stallFinality: true });
	const order = scene.deposit();
	const transaction = await scene.actions.open(order, scene.wallet);
	const slot = await scene.actions.landed(transaction);
	await scene.follow();
	expect(await scene.transactionOf(transaction)).toMatchObject({ state: "mined", block_number: slot });

	await scene.wait(order);
	await scene.admin.dropTransaction({ signature: toSignature(transaction.signature) });
	await scene.follow();
	expect(await scene.namesOf(order)).toEqual([]);
	expect(await scene.jobOf(order, "open")).toMatchObject({ state: "sent" });
	expect(await scene.transactionOf(transaction)).toEqual({
		state: "broadcast",
		block_number: null,
		gas_cost: null,
	});
	expect(await scene.takeDue()).toEqual([orderId(order)]);

	await scene.actions.send(transaction);
	const again = await scene.actions.landed(transaction);
	expect(again).toBeGreaterThan(slot);
	await scene.follow();
	expect(await scene.namesOf(order)).toEqual(["Opened", "RentPaid"]);
	expect(await scene.transactionOf(transaction)).toMatchObject({ state: "mined", block_number: again });
	expect(await scene.jobOf(order, "open")).toMatchObject({ state: "done" });
	await scene.admin.setFaults({});
	await scene.followToEnd();
	expect(await scene.transactionOf(transaction)).toMatchObject({ state: "final" });
	await scene.expectBooksToMatch();
});

test("a transaction that moves to another slot between two reads has one event, in the new slot", async () => {
	await scene.admin.setFaults({ stallFinality: true });
	const order = scene.deposit();
	const transaction = await scene.actions.open(order, scene.wallet);
	await scene.actions.landed(transaction);
	await scene.follow();
	await scene.admin.dropTransaction({ signature: toSignature(transaction.signature) });
	await scene.actions.send(transaction);
	const again = await scene.actions.landed(transaction);
	await scene.follow();
	expect(await scene.eventsOf(order)).toMatchObject([
		{ name: "Opened", block_number: again },
		{ name: "RentPaid", block_number: again },
	]);
	expect(await scene.jobOf(order, "open")).toMatchObject({ state: "done" });
});

test("an unknown status alone does not undo an event", async () => {
	const order = scene.deposit();
	const transaction = await scene.actions.open(order, scene.wallet);
	await scene.actions.landed(transaction);
	await scene.follow();
	const signatures = [toSignature(transaction.signature)];
	const lie = { methods: ["getSignatureStatuses"], signatures };
	await scene.admin.setFaults({ stallFinality: true, lieAboutStatus: lie });
	await scene.follow();
	expect(await scene.namesOf(order)).toEqual(["Opened", "RentPaid"]);
});

test("while the node cannot return a landed transaction, no later slot is taken as final", async () => {
	const order = scene.deposit();
	const transaction = await scene.actions.open(order, scene.wallet);
	await scene.actions.landed(transaction);
	const before = await scene.head();
	const signatures = [toSignature(transaction.signature)];
	await scene.admin.setFaults({ lieAboutStatus: { methods: ["getTransaction"], signatures } });
	await scene.actions.finalized();
	await scene.forgetLook();
	await scene.follow();
	const stalled = await scene.head();
	expect(stalled).toMatchObject({
		finalizedNumber: before?.finalizedNumber,
		finalizedHeight: before?.finalizedHeight,
		bookedNumber: before?.bookedNumber,
	});
	expect(stalled?.number).toBeGreaterThan(before?.number ?? 0);
	await scene.admin.setFaults({});
	await scene.follow();
	expect(await scene.namesOf(order)).toEqual(["Opened", "RentPaid"]);
	expect(await scene.transactionOf(transaction)).toMatchObject({ state: "final" });
});

test("while finality is stalled, no transaction becomes final or is booked", async () => {
	await scene.followToEnd();
	await scene.admin.setFaults({ stallFinality: true });
	const order = scene.deposit();
	const transaction = await scene.actions.open(order, scene.wallet);
	await scene.actions.landed(transaction);
	await scene.admin.warp({ slots: 40 });
	await scene.follow();
	expect(await scene.transactionOf(transaction)).toMatchObject({ state: "mined" });
	const key = `${scene.chain.chainId}:${transaction.signature}:Opened:${orderId(order)}`;
	const postings = () => scene.pool.query("select from postings where key = $1", [key]);
	expect((await postings()).rowCount).toBe(0);

	await scene.admin.setFaults({});
	await scene.followToEnd();
	expect(await scene.transactionOf(transaction)).toMatchObject({ state: "final" });
	expect((await postings()).rowCount).toBe(1);
});

test("a final transaction that disappears stops the follower", async () => {
	const order = scene.deposit();
	const transaction = await scene.actions.open(order, scene.wallet);
	await scene.actions.landed(transaction);
	await scene.followToEnd();
	const before = await scene.head();
	await scene.admin.setFaults({
		lieAboutStatus: { signatures: [toSignature(transaction.signature)] },
	});
	await expect(scene.follow()).rejects.toThrow(FinalityBrokenError);
	expect(await scene.head()).toEqual(before);
});

test("a node that lags behind the stored head is ignored, and one that is far behind is an error", async () => {
	await scene.follow();
	const before = await scene.head();
	await scene.pool.query("update chain_heads set finalized_number = finalized_number + 100000");
	await expect(scene.follow()).rejects.toThrow("behind a final block");
	await scene.pool.query("update chain_heads set finalized_number = finalized_number - 99500");
	expect(await scene.follow()).toBe(false);
	await scene.pool.query("update chain_heads set finalized_number = $1, number = number + 100000", [
		before?.finalizedNumber,
	]);
	expect(await scene.follow()).toBe(false);
	await scene.pool.query("update chain_heads set number = $1", [before?.number]);
});

test("a swap whose transaction can no longer land is woken once the last valid height is final", async () => {
	const order = scene.deposit();
	await scene.admin.setFaults({ dropSends: true });
	const { lastValidHeight } = await scene.actions.open(order, scene.wallet);
	await scene.wait(order);
	await scene.follow();
	expect(await scene.takeDue()).toEqual([]);
	await scene.admin.warp({ slots: 170 });
	await scene.follow();
	expect(await scene.takeDue()).toEqual([orderId(order)]);
	const head = await scene.head();
	expect(head?.finalizedHeight).toBeGreaterThan(lastValidHeight);
	expect(await scene.namesOf(order)).toEqual([]);
});

test("a transaction that landed shortly before it expired is found before its last height is final", async () => {
	const order = scene.deposit();
	const transaction = await scene.actions.openBytes(order, scene.wallet);
	await scene.admin.warp({ slots: 100 });
	await scene.actions.send(transaction);
	await scene.actions.landed(transaction);
	await scene.admin.warp({ slots: 100 });
	const signatures = [toSignature(transaction.signature)];
	await scene.admin.setFaults({ lieAboutStatus: { methods: ["getSignatureStatuses"], signatures } });
	await scene.follow();
	const head = await scene.head();
	expect(head?.finalizedHeight).toBeGreaterThan(transaction.lastValidHeight);
	expect(await scene.namesOf(order)).toEqual(["Opened", "RentPaid"]);
});

test("a swap that waits for a slot, or for a final slot, is woken when it is there, and an idle chain's head is not written each time", async () => {
	await scene.admin.setFaults({ stallFinality: true });
	await scene.forgetLook();
	await scene.follow();
	const head = await scene.head();
	const orders = { head: scene.deposit(), finalized: scene.deposit() };
	for (const [column, order] of Object.entries(orders)) {
		await scene.wait(order);
		await scene.pool.query(
			`update waits set ${column}_chain_id = $2, ${column}_number = $3 where swap_id = $1`,
			[fromSwapKey(order.swapKey), scene.chain.chainId, Number(head?.number) + 1],
		);
	}
	await scene.admin.warp({ slots: 5 });
	await scene.follow();
	expect(await scene.takeDue()).toEqual([orderId(orders.head)]);
	await scene.pool.query("update chain_heads set updated_at = now() + interval '1 minute'");
	await scene.admin.warp({ slots: 5 });
	expect(await scene.follow()).toBe(false);
	await scene.admin.setFaults({});
	await scene.admin.warp({ slots: 20 });
	expect(await scene.follow()).toBe(true);
	expect(await scene.takeDue()).toEqual([orderId(orders.finalized)]);
});

test("a lane that has work is poked under one dedupe key per second", async () => {
	await scene.admin.setFaults({ dropSends: true });
	await scene.actions.open(scene.deposit(), scene.wallet);
	const startedMs = Date.now();
	for (let i = 0; i < 5; i++) {
		await scene.forgetLook();
		await scene.follow();
	}
	const lanePokes = scene.poked.filter(
		({ key }) => key === `${scene.chain.chainId}:${scene.actions.relayer}`,
	);
	expect(lanePokes).toHaveLength(5);
	const seconds = Math.ceil((Date.now() - startedMs) / 1_000) + 1;
	expect(new Set(lanePokes.map(({ dedupeKey }) => dedupeKey)).size).toBeLessThanOrEqual(seconds);
});

test("the amounts that left the vault count against its cap for an hour", async () => {
	const { address, vault } = scene.chain.deployment.program;
	const token = mintOf(scene.chain, "USDT");
	const owner = await createKeyPairSignerFromBytes(scene.solana.keys.vaultOwner);
	const perHour = parseUnits("1000", 6);
	const cap = setVaultCap({ program: address, vault, owner }, token, perHour);
	await scene.actions.landed(await scene.actions.sendForgotten([cap]));
	const available = async () => {
		await scene.forgetLook();
		await scene.follow();
		const { rows } = await scene.pool.query<{ balance: bigint; outflow_available: bigint }>(
			"select balance, outflow_available from inventory where token = $1",
			[hexToBytes(toSolanaWord(token))],
		);
		return rows[0];
	};
	const before = await available();
	expect(before?.outflow_available).toBe(perHour);
	const order = scene.payout({ symbol: "USDT" });
	await scene.actions.landed(await scene.actions.fill(order, 400_000_000n));
	const after = await available();
	expect(Number(before?.balance) - Number(after?.balance)).toBe(400_000_000);
	expect(after?.outflow_available).toBeLessThan(perHour);
	expect(after?.outflow_available).toBeGreaterThanOrEqual(parseUnits("600", 6));
	await scene.passTime(3_600);
	await expect.poll(async () => (await available())?.outflow_available).toBe(perHour);
});

test("the vault's SOL is inventory only above the rent of its account", async () => {
	await scene.forgetLook();
	await scene.follow();
	const { vault } = scene.chain.deployment.program;
	const { value: lamports } = await scene.chain.rpc.getBalance(vault, { commitment: "confirmed" }).send();
	const { rows } = await scene.pool.query<{ balance: bigint }>(
		"select balance from inventory where token = $1",
		[hexToBytes(toSolanaWord(solanaNativeToken))],
	);
	expect(rows[0]?.balance).toBe(lamports - accountRentLamports(programAccountSizes.vault));
});

test("a lane is poked if there are accounts whose rent can be fetched", async () => {
	await scene.followToEnd();
	const isPokedForLeftovers = async () => {
		scene.poked.length = 0;
		await scene.forgetLook();
		await scene.follow();
		return scene.poked.some(({ dedupeKey }) => dedupeKey?.includes(":leftovers "));
	};
	await scene.pool.query("update rents set closable_at = now() + interval '1 hour'");
	expect(await isPokedForLeftovers()).toBe(false);
	await scene.pool.query("update rents set closable_at = now() - interval '2 minutes'");
	expect(await isPokedForLeftovers()).toBe(true);
});
