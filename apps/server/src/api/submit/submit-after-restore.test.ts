import { randomUUID } from "node:crypto";
import { solanaKeyVariables } from "@geoswap/devnet";
import { fromSwapId, orderAddress, orderId, orderToJson, swapUuidTimeMs, toSwapId } from "@geoswap/protocol";
import { signBytes } from "@solana/kit";
import { bytesToHex, hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refusalOf } from "../../../test/api/origin-scene.ts";
import { type SolanaSubmitScene, startSolanaSubmitScene } from "../../../test/api/solana-submit-scene.ts";
import { type SubmitScene, startSubmitScene } from "../../../test/api/submit-scene.ts";
import { solanaKeysOf } from "../../../test/signer/solana-keys-of.ts";
import { floodAddresses } from "../../../test/solana/flood-addresses.ts";
import { laggingSolana } from "../../../test/solana/lagging-solana.ts";
import { readStatuses } from "../../chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../chain/solana/send/send-raw.ts";
import { noteRestore } from "../../database/restores.ts";
import { readSwap } from "../../swap/record/read-swap.ts";

let evm: SubmitScene;
let solana: SolanaSubmitScene;
beforeAll(async () => {
	[evm, solana] = await Promise.all([startSubmitScene(), startSolanaSubmitScene()]);
});
afterAll(() => Promise.all([evm?.stop(), solana?.stop()]));
beforeEach(() => Promise.all([evm.reset(), solana.reset()]));

type Quoted = Awaited<ReturnType<SubmitScene["signedOp"]>>["quote"];

/** Inserts a swap as it is rebuilt from an order on its chain. */
async function insertRebuilt(
	{ uuid, terms }: Pick<Quoted, "uuid" | "terms">,
	{ database }: Pick<SubmitScene, "database"> = evm,
): Promise<void> {
	await database.owner.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, 1, 1, '{"kind":"inventory","amount":"1"}')`,
		[uuid, hexToBytes(orderId(terms)), orderToJson(terms)],
	);
}

type SolanaSubmission = Omit<Awaited<ReturnType<SolanaSubmitScene["signedTransaction"]>>, "quote">;

/** Signs and sends the transaction like the fee payer's lane. */
async function landOnSolana({ built, signed }: SolanaSubmission): Promise<void> {
	const { chain } = solana;
	const keys = await solanaKeysOf(solanaKeyVariables(solana.solana.keys), chain.deployment);
	const feePayer = keys.feePayers.find(({ address }) => address === built.geoOp.feePayer);
	if (!feePayer) throw new Error("it is one of ours");
	const bytes = Buffer.from(signed, "base64");
	const signature = await signBytes(feePayer.keyPair.privateKey, bytes.subarray(1 + 2 * 64));
	bytes.set(signature, 1);
	await sendRaw(chain, bytesToHex(bytes));
	await expect
		.poll(async () => (await readStatuses(chain, [bytesToHex(signature)]))[0], { timeout: 15_000 })
		.toMatchObject({ isFailed: false });
}

test("a rebuilt swap is assigned to its account when its op token is submitted again, and to no other account", async () => {
	const wallet = await evm.newWallet({ isDelegated: true });
	const { quote, built, signature } = await evm.signedOp(wallet);
	await insertRebuilt(quote);
	evm.clock.aheadMs = 3_600_000;
	expect(await refusalOf(evm.submit(built, signature, { as: randomUUID() }))).toMatchObject({
		code: "INVALID_TOKEN",
	});
	expect((await readSwap(evm.database.pool, quote.uuid))?.accountId).toBeUndefined();
	expect(await evm.submit(built, signature)).toEqual({ swapId: toSwapId(quote.uuid), status: "pending" });
	const swap = await readSwap(evm.database.pool, quote.uuid);
	expect(swap?.accountId).toBe(evm.accountId);
	// The swap is still never filled.
	expect(swap?.op).toBeUndefined();
	expect(evm.poked()).toEqual([]);
});

test("a rebuilt swap that ended with a credit is processed again once its account submits its op token", async () => {
	const { owner, pool } = evm.database;
	const { quote, built, signature } = await evm.signedOp(await evm.newWallet({ isDelegated: true }));
	await insertRebuilt(quote);
	await owner.query("update swaps set stage = 'refunding', ended_at = now() where id = $1", [quote.uuid]);
	evm.clock.aheadMs = 3_600_000;
	expect(await evm.submit(built, signature)).toEqual({ swapId: toSwapId(quote.uuid), status: "pending" });
	const swap = await readSwap(pool, quote.uuid);
	expect(swap?.accountId).toBe(evm.accountId);
	expect(swap?.endedAt).toBeUndefined();
	const { rows } = await owner.query("select due_at <= now() as is_due from waits where swap_id = $1", [
		quote.uuid,
	]);
	expect(rows).toEqual([{ is_due: true }]);

	// A swap that has a final outcome stays ended.
	const refunded = await evm.signedOp(await evm.newWallet({ isDelegated: true }));
	await insertRebuilt(refunded.quote);
	await owner.query(
		"update swaps set status = 'refunded', stage = 'refunding', ended_at = now() where id = $1",
		[refunded.quote.uuid],
	);
	expect(await evm.submit(refunded.built, refunded.signature)).toMatchObject({ status: "refunded" });
	expect((await readSwap(pool, refunded.quote.uuid))?.endedAt).toBeDefined();
});

test("a rebuilt swap with other terms under the same id is not assigned to the account", async () => {
	const wallet = await evm.newWallet({ isDelegated: true });
	const { quote, built, signature } = await evm.signedOp(wallet);
	await insertRebuilt({ ...quote, terms: { ...quote.terms, minOutput: 7n } });
	evm.clock.aheadMs = 3_600_000;
	expect(await refusalOf(evm.submit(built, signature))).toMatchObject({ code: "OP_EXPIRED" });
	expect((await readSwap(evm.database.pool, quote.uuid))?.accountId).toBeUndefined();
});

test("an expired op whose order is open is not reported as expired, and becomes a swap", async () => {
	const wallet = await evm.newWallet({ isDelegated: true });
	const { quote, built, signature } = await evm.signedOp(wallet);
	await evm.land(signature, { quote });
	evm.clock.aheadMs = 3_600_000;
	expect(
		await refusalOf(evm.submit(built, signature, { route: evm.submitRoute(evm.deadChains) })),
	).toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
	});
	expect(await evm.submit(built, signature)).toEqual({ swapId: toSwapId(quote.uuid), status: "pending" });
	expect(await readSwap(evm.database.pool, quote.uuid)).toMatchObject({
		accountId: evm.accountId,
		op: { signature },
	});
	const { rows } = await evm.database.owner.query(
		"select due_at <= now() as is_due, (select count(*) from jobs where swap_id = $1) as jobs from waits where swap_id = $1",
		[quote.uuid],
	);
	expect(rows).toEqual([{ is_due: true, jobs: 0 }]);
	expect(evm.poked()).toEqual(["round 0"]);
});

test("after a restore an op is not reported as expired while an earlier bundle may still open its order", async () => {
	const { owner } = evm.database;
	const { built, signature } = await evm.signedOp(await evm.newWallet({ isDelegated: true }));
	await noteRestore(owner, { nowMs: Date.now() });
	evm.clock.aheadMs = 3_600_000;
	await expect(evm.submit(built, signature)).rejects.toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
		message: expect.stringContaining("it is not known yet"),
	});
	await owner.query("delete from restores");
	expect(await refusalOf(evm.submit(built, signature))).toMatchObject({ code: "OP_EXPIRED" });
});

test("an order from Solana whose row was lost becomes a swap again when its transaction is resubmitted", async () => {
	const wallet = await solana.newWallet();
	const { quote, built, signed } = await solana.signedTransaction(wallet);
	solana.clock.aheadMs = 3_600_000;
	expect(await refusalOf(solana.submit(built, signed))).toMatchObject({ code: "OP_EXPIRED" });
	await landOnSolana({ built, signed });
	const { swapId } = await solana.submit(built, signed);
	expect(fromSwapId(swapId)).toBe(quote.uuid);
	expect(await readSwap(solana.database.pool, quote.uuid)).toMatchObject({
		accountId: solana.accountId,
		op: { kind: "solana" },
	});
});

test("a rebuilt swap from Solana is assigned to its account when its transaction is resubmitted, and nothing is sent", async () => {
	const { quote, built, signed } = await solana.signedTransaction(await solana.newWallet());
	await landOnSolana({ built, signed });
	await insertRebuilt(quote, solana);
	solana.clock.aheadMs = 3_600_000;
	const { swapId } = await solana.submit(built, signed);
	expect(fromSwapId(swapId)).toBe(quote.uuid);
	expect(await readSwap(solana.database.pool, quote.uuid)).toMatchObject({ accountId: solana.accountId });
	expect((await readSwap(solana.database.pool, quote.uuid))?.op).toBeUndefined();
	expect(await solana.swapCount()).toBe(1);
	expect(solana.poked()).toEqual([]);
});

test("an expired op is left to the operator if transactions that name its order succeeded, regardless of their sender", async () => {
	const { built, signed, quote } = await solana.signedTransaction(await solana.newWallet());
	const { program } = solana.chain.deployment;
	const address = await orderAddress(program.address, orderId(quote.terms));
	await floodAddresses(solana.solana, { addresses: [address], count: 1 });
	solana.clock.aheadMs = 3_600_000;
	await expect(solana.submit(built, signed)).rejects.toMatchObject({
		code: "OP_EXPIRED",
		next: "contact_operator",
		message: expect.stringContaining("can no longer show"),
	});
	expect(await solana.swapCount()).toBe(0);
});

test("after a restore an earlier quote is not executed twice, and not reported as expired while it may still land", async () => {
	const { owner } = solana.database;
	const wallet = await solana.newWallet({ amount: 20_000_000n });
	const { quote, ...executed } = await solana.signedTransaction(wallet);
	await noteRestore(owner, { nowMs: Date.now() });
	// It has not expired, so it could apparently be executed now, and so could the other one.
	await expect(solana.submit(executed.built, executed.signed)).rejects.toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
		next: "retry",
		message: expect.stringContaining("it is not known yet"),
	});
	solana.clock.aheadMs = 3_600_000;
	expect(await refusalOf(solana.submit(executed.built, executed.signed))).toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
	});
	solana.clock.aheadMs = 0;
	const other = await solana.signedTransaction(wallet, quote);
	await landOnSolana(executed);
	const { swapId } = await solana.submit(other.built, other.signed);
	expect(await solana.submit(executed.built, executed.signed)).toEqual({ swapId, status: "pending" });
	expect(await solana.swapCount()).toBe(1);
	await owner.query("delete from restores");
});

test("after a restore a newer quote is executed as usual", async () => {
	const { owner } = solana.database;
	await noteRestore(owner, { nowMs: Date.now() });
	const { built, signed } = await solana.signedTransaction(await solana.newWallet());
	expect(await solana.submit(built, signed)).toMatchObject({ status: "pending" });
	await owner.query("delete from restores");
});

test("if another build of the quote was executed, this build becomes the swap of the order that is open", async () => {
	const wallet = await solana.newWallet({ amount: 20_000_000n });
	const { quote, ...executed } = await solana.signedTransaction(wallet);
	const other = await solana.signedTransaction(wallet, quote);
	await landOnSolana(executed);
	solana.clock.aheadMs = 3_600_000;
	const { swapId } = await solana.submit(other.built, other.signed);
	expect(fromSwapId(swapId)).toBe(quote.uuid);
	expect(await solana.submit(executed.built, executed.signed)).toEqual({ swapId, status: "pending" });
	expect(await solana.swapCount()).toBe(1);
	expect(solana.poked()).toEqual(["round 0"]);
});

test("an op that expired on Solana too long ago for the node to list its transactions is left to the operator", async () => {
	const { chain } = solana;
	const { built, signed } = await solana.signedTransaction(await solana.newWallet());
	solana.clock.aheadMs = 3_600_000;
	const pruned = laggingSolana(chain, { first: Number.MAX_SAFE_INTEGER });
	await expect(solana.submit(built, signed, { route: solana.submitRoute(pruned) })).rejects.toMatchObject({
		code: "OP_EXPIRED",
		next: "contact_operator",
		message: expect.stringContaining("can no longer show"),
	});
	await expect(solana.submit(built, signed)).rejects.toMatchObject({ code: "OP_EXPIRED", next: "requote" });
});

test("a lost order is recorded again even if the partition of its day is missing", async () => {
	const wallet = await evm.newWallet({ isDelegated: true });
	const { quote, built, signature } = await evm.signedOp(wallet);
	await evm.land(signature, { quote });
	const day = new Date(swapUuidTimeMs(quote.uuid)).toISOString().slice(0, 10).replaceAll("-", "_");
	await evm.database.owner.query(`drop table swaps_${day}, swap_events_${day}`);
	evm.clock.aheadMs = 3_600_000;
	expect(await evm.submit(built, signature)).toMatchObject({ status: "pending" });
});

test("a swap of another order with the quote's id is neither returned nor assigned to the account", async () => {
	const wallet = await evm.newWallet({ isDelegated: true });
	const { quote, built, signature } = await evm.signedOp(wallet);
	await insertRebuilt({ ...quote, terms: { ...quote.terms, minOutput: 7n } });
	expect(await refusalOf(evm.submit(built, signature))).toEqual({
		code: "SIMULATION_FAILED",
		details: { reason: "another order has the quote's id" },
	});
	await evm.land(signature, { quote });
	await expect(evm.submit(built, signature)).rejects.toThrow("the submitted order is open");
	expect((await readSwap(evm.database.pool, quote.uuid))?.accountId).toBeUndefined();
});

test("an order that its wallet opens while a chain is paused is marked for refund, and reserves no inventory", async () => {
	for (const { chainId } of [evm.testChains.origin, evm.testChains.destination]) {
		const wallet = await evm.newWallet({ isDelegated: true });
		const { quote, built, signature } = await evm.signedOp(wallet);
		await evm.land(signature, { quote });
		evm.knobs.paused = new Map([[chainId, "the books differ"]]);
		expect(await evm.submit(built, signature)).toEqual({ swapId: toSwapId(quote.uuid), status: "pending" });
		expect(await readSwap(evm.database.pool, quote.uuid)).toMatchObject({ givingUp: "PRICE_MOVED" });
	}
	expect((await evm.database.owner.query("select from reservations")).rowCount).toBe(0);
});
