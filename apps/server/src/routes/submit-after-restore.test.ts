import { randomUUID } from "node:crypto";
import { solanaKeysVariable } from "@geoswap/devnet";
import { fromSwapId, orderId, orderToJson, toSwapId } from "@geoswap/protocol";
import { signBytes } from "@solana/kit";
import { bytesToHex, hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refusalOf } from "../../test/origin-scene.ts";
import { type SolanaSubmitScene, startSolanaSubmitScene } from "../../test/solana-submit-scene.ts";
import { type SubmitScene, startSubmitScene } from "../../test/submit-scene.ts";
import { readStatuses } from "../chain/solana/read-statuses.ts";
import { sendRaw } from "../chain/solana/send-raw.ts";
import { parseSolanaKeys } from "../chain/solana/solana-keys.ts";
import { readSwap } from "../store/read-swap.ts";

let evm: SubmitScene;
let solana: SolanaSubmitScene;
beforeAll(async () => {
	[evm, solana] = await Promise.all([startSubmitScene(), startSolanaSubmitScene()]);
});
afterAll(() => Promise.all([evm?.stop(), solana?.stop()]));
beforeEach(() => Promise.all([evm.reset(), solana.reset()]));

type Quoted = Awaited<ReturnType<SubmitScene["signedOp"]>>["quote"];

/** As it is rebuilt from an order on its chain. */
async function insertRebuilt({ uuid, terms }: Pick<Quoted, "uuid" | "terms">): Promise<void> {
	await evm.database.pool.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, 1, 1, '{"kind":"stock","amount":"1"}')`,
		[uuid, hexToBytes(orderId(terms)), orderToJson(terms)],
	);
}

test("a rebuilt swap is its account's again once its op token is submitted again, and nobody else's", async () => {
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
	// It is still never filled.
	expect(swap?.op).toBeUndefined();
	expect(evm.started()).toEqual([]);
});

test("a swap that was rebuilt of other terms under the same id is not given away", async () => {
	const wallet = await evm.newWallet({ isDelegated: true });
	const { quote, built, signature } = await evm.signedOp(wallet);
	await insertRebuilt({ ...quote, terms: { ...quote.terms, minOutput: 7n } });
	evm.clock.aheadMs = 3_600_000;
	expect(await refusalOf(evm.submit(built, signature))).toMatchObject({ code: "OP_EXPIRED" });
	expect((await readSwap(evm.database.pool, quote.uuid))?.accountId).toBeUndefined();
});

test("of an op that expired nobody is told that nothing was executed where its order is open", async () => {
	const wallet = await evm.newWallet({ isDelegated: true });
	const { quote, built, signature } = await evm.signedOp(wallet);
	await evm.land(built, signature, { quote });
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
	// The engine may remember the execution of before.
	const { rows } = await evm.database.pool.query("select execution from waits where swap_id = $1", [
		quote.uuid,
	]);
	expect(rows[0].execution).toBeGreaterThan(1_000);
	expect(evm.started()).toEqual([quote.uuid]);
});

test("a deposit on Solana whose row was lost goes on when its transaction is submitted again", async () => {
	const { chain } = solana;
	const wallet = await solana.newWallet();
	const { quote, built, signed } = await solana.signedTransaction(wallet);
	const keys = await parseSolanaKeys(solanaKeysVariable(solana.solana.keys), chain.deployment);
	const feePayer = keys.feePayers.find(({ address }) => address === built.geoOp.feePayer);
	if (!feePayer) throw new Error("it is one of ours");
	solana.clock.aheadMs = 3_600_000;
	expect(await refusalOf(solana.submit(built, signed))).toMatchObject({ code: "OP_EXPIRED" });

	const bytes = Buffer.from(signed, "base64");
	const signature = await signBytes(feePayer.keyPair.privateKey, bytes.subarray(1 + 2 * 64));
	bytes.set(signature, 1);
	await sendRaw(chain, bytesToHex(bytes));
	await expect
		.poll(async () => (await readStatuses(chain, [bytesToHex(signature)]))[0], { timeout: 15_000 })
		.toMatchObject({ isFailed: false });

	const { swapId } = await solana.submit(built, signed);
	expect(fromSwapId(swapId)).toBe(quote.uuid);
	expect(await readSwap(solana.database.pool, quote.uuid)).toMatchObject({
		accountId: solana.accountId,
		op: { kind: "solana" },
	});
});
