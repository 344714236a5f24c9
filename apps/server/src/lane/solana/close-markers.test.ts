import {
	fromSwapKey,
	type Order,
	orderId,
	orderToJson,
	tokenAccountRentLamports,
	toSolanaWord,
} from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import { afterAll, beforeEach, expect, test } from "vitest";
import { followLanes, rememberMarker } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes, markerSeconds } from "../../../test/lane/solana-lanes.ts";
import { openLaneTransactions } from "../../job/journal/lane-transactions.ts";
import { markMarkersClosed, readDueMarkers } from "../../job/journal/markers.ts";
import { createLog } from "../../telemetry/log.ts";

const lanes = await createSolanaLanes();
const { pump, slots, clear, setFaults, queuePayout, queueVoid, balance, decided, transactions } = lanes;
const { scene, pool, chain, feePayerOf } = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

const old = new Date(Date.now() - (markerSeconds + 60) * 1_000);

test("old markers are closed and their lamports returned, and none is closed too early", async () => {
	const [paid, voided, young, unended] = [
		await queuePayout(),
		await queueVoid(),
		await queuePayout(),
		await queuePayout(),
	].map(({ order }) => order) as [Order, Order, Order, Order];
	await pump();
	await slots(40);
	await pump();
	const justInTime = new Date(Date.now() - (markerSeconds - 60) * 1_000);
	for (const [order, owner, madeAt] of [
		[paid, "vault", old],
		[voided, "escrow", old],
		[young, "vault", justInTime],
		[unended, "vault", old],
	] as const) {
		await rememberMarker(scene, { order, base: "vault", owner, madeAt });
		await recordSwap(order, { isEnded: order !== unended });
	}
	const before = await balance(feePayerOf(0), "SOL");
	await pump();
	await slots(3);
	expect(await decided([paid, voided, young, unended], "vault")).toEqual([
		undefined,
		undefined,
		"vault",
		"vault",
	]);
	const gained = (await balance(feePayerOf(0), "SOL")) - before;
	expect(gained).toBeGreaterThan(2n * tokenAccountRentLamports - 50_000n);
	expect((await transactions()).at(-1)).toMatchObject({ kind: "close", jobs: [{}, {}] });

	const addresses = await closedBy();
	expect(addresses).toHaveLength(2);
	// While the close is in flight no marker is closed again, nor after the follower has seen it.
	await pump({ lane: 1 });
	expect((await transactions()).filter(({ kind }) => kind === "close")).toHaveLength(1);
	await markMarkersClosed(pool, {
		chainId: chain.chainId,
		addresses,
		closedAt: new Date(),
	});
	await slots(40);
	await pump();
	expect((await transactions()).filter(({ kind }) => kind === "close")).toHaveLength(1);
	expect(await due()).toEqual([]);
});

test("no marker is closed while there is work, or while a job of its order is not done", async () => {
	const { order } = await queuePayout();
	await pump();
	await slots(40);
	await pump();
	await rememberMarker(scene, { order, base: "vault", owner: "vault", madeAt: old });
	await recordSwap(order, { isEnded: true });
	await queuePayout();
	await pump();
	expect((await transactions()).map(({ kind }) => kind)).toEqual(["fill", "fill"]);
	await pool.query("update jobs set state = 'sent' where order_id = $1", [hexToBytes(orderId(order))]);
	await pump();
	expect((await transactions()).map(({ kind }) => kind)).toEqual(["fill", "fill"]);
	await pool.query("update jobs set state = 'done' where order_id = $1", [hexToBytes(orderId(order))]);
	await pump();
	expect((await transactions()).map(({ kind }) => kind)).toEqual(["fill", "fill", "close"]);
});

test("a close that was lost is signed again once its own lane finds that it expired", async () => {
	const order = await oldPaidOrder();
	await setFaults({ dropSends: true });
	await pump();
	await slots(200);
	await setFaults({});
	await pump({ lane: 1 });
	expect((await transactions()).filter(({ kind }) => kind === "close")).toHaveLength(1);
	// Its own lane finds that the transaction has expired.
	await pump();
	await slots(3);
	expect(await decided([order], "vault")).toEqual([undefined]);
	expect((await transactions()).filter(({ kind }) => kind === "close")).toMatchObject([
		{ state: "final" },
		{ state: "broadcast" },
	]);
});

test("a close that a restored store forgot is journalled again for the follower, and other markers are closed", async () => {
	const [forgotten, other] = [await oldPaidOrder(), await oldPaidOrder()] as const;
	await pool.query("update markers set closed_at = now() where order_id = $1", [hexToBytes(orderId(other))]);
	await pump();
	await slots(40);
	const close = (await transactions()).at(-1);
	expect(close).toMatchObject({ kind: "close" });
	await scene.owner.query("truncate lane_transactions");
	await pool.query("update markers set closed_at = null");

	await pump();
	await slots(3);
	expect(await transactions()).toMatchObject([
		{ kind: "close", hash: close?.hash, raw: Buffer.alloc(0), jobs: close?.jobs },
		{ kind: "close", state: "broadcast" },
	]);
	expect(await decided([forgotten, other], "vault")).toEqual([undefined, undefined]);
	expect(await due()).toEqual([]);
});

test("markers that are gone without a trace are reported once, and the others are closed", async () => {
	const alarms: object[] = [];
	const log = createLog({ level: "silent", process: "test" });
	log.error = ((about: object) => {
		alarms.push(about);
	}) as typeof log.error;
	const standing = await oldPaidOrder();
	for (let i = 0; i < 8; i++) {
		const { order } = await queuePayout();
		await pool.query("delete from jobs where order_id = $1", [hexToBytes(orderId(order))]);
		const older = new Date(old.getTime() - 1_000);
		await rememberMarker(scene, { order, base: "vault", owner: "vault", madeAt: older });
		await recordSwap(order, { isEnded: true });
	}
	await pump({ log });
	expect(alarms).toMatchObject([{ addresses: { length: 8 } }]);
	await pump({ log });
	await slots(3);
	expect(await decided([standing], "vault")).toEqual([undefined]);
	expect(alarms).toHaveLength(1);
});

/** Returns an order that was paid long ago, as far as the store knows. */
async function oldPaidOrder(): Promise<Order> {
	const { order } = await queuePayout();
	await pump();
	await slots(40);
	await followLanes(scene);
	await rememberMarker(scene, { order, base: "vault", owner: "vault", madeAt: old });
	await recordSwap(order, { isEnded: true });
	return order;
}

async function recordSwap(order: Order, { isEnded }: { isEnded: boolean }): Promise<void> {
	await pool.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, ended_at)
		values ($1, $2, $3, 1, 1, '{}', case when $4 then now() end)
		on conflict (id) do update set ended_at = excluded.ended_at`,
		[fromSwapKey(order.swapKey), hexToBytes(orderId(order)), orderToJson(order), isEnded],
	);
}

function due() {
	return readDueMarkers(pool, {
		chainId: chain.chainId,
		madeBefore: new Date(Date.now() - markerSeconds * 1_000),
		limit: 8,
	});
}

/** Returns the markers that the open close transactions of this store close. */
async function closedBy(): Promise<Hex[]> {
	const open = await openLaneTransactions(pool, {
		chainId: chain.chainId,
		relayer: toSolanaWord(feePayerOf(0)),
	});
	return open.flatMap(({ markers = [] }) => markers);
}
