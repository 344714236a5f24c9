import { toSwapId } from "@geoswap/protocol";
import { getAddress, hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { createSwapScene, destinationId, originId, roundOptions, token } from "../../test/swap/swap-scene.ts";
import { keepSpans } from "../../test/telemetry/keep-spans.ts";
import { markOrders } from "../swap/due/mark-swaps.ts";
import { readSwap } from "../swap/record/read-swap.ts";
import type { SwapMetrics } from "../telemetry/swap-metrics.ts";
import type { SwapObserver } from "./record-decisions.ts";
import { createRound } from "./run-round.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	const { pool } = database;
	await pool.query("insert into inventory values ($1, $2, 100000, 100000, 0, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	await pool.query("insert into pair_volume values ($1, $2, 'buy', 0)", [destinationId, hexToBytes(token)]);
});
afterAll(() => database.drop());

const trace = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const facts = ["opening", "delivering", "delivered", "delivery-final", "released"];

/** Settles a swap by rounds, each run `times` times, and returns what was reported about it. */
async function settle({
	isTraced = true,
	times = 1,
	observer,
}: {
	isTraced?: boolean;
	times?: number;
	/** Replaces the observer that records what is reported to it. */
	observer?: SwapObserver;
} = {}) {
	const scene = await createSwapScene(database.pool);
	if (isTraced) {
		await database.pool.query("update swaps set trace = $2 where id = $1", [
			scene.uuid,
			`00-${trace.traceId}-${trace.spanId}-01`,
		]);
	}
	const nothing = async () => {};
	const rest = [
		() => scene.emit("Opened", originId),
		() => scene.emit("Filled", destinationId, { delivered: "400", spentToken: token, spent: "400" }),
		nothing,
		nothing,
		() => scene.emit("Released", originId, { paid: true }),
	];
	const moves: string[] = [];
	const payouts: Parameters<SwapMetrics["paidOut"]>[0][] = [];
	const decided: { status: string; seconds: number }[] = [];
	const metrics: SwapMetrics = {
		moved: ({ originChainId, destinationChainId }, to) =>
			moves.push(`${originChainId}-${destinationChainId} ${to}`),
		decided: (_, decision) => decided.push(decision),
		givenUp: () => {},
		paidOut: (payout) => payouts.push(payout),
		secondAsked: () => {},
	};
	const { tracer, spans } = keepSpans();
	const options = roundOptions(database.pool, scene.clock, observer ?? { tracer, metrics });
	for (const next of [nothing, ...rest, nothing, nothing, nothing]) {
		await next();
		await scene.moveHeads(1);
		for (let time = 0; time < times; time++) {
			await markOrders(database.pool, [scene.orderId]);
			await createRound(options)();
		}
	}
	return { uuid: scene.uuid, swapId: toSwapId(scene.uuid), spans: await spans(), moves, decided, payouts };
}

test("each fact of a swap is one span of the trace that its submit began", async () => {
	const { swapId, spans } = await settle();
	expect(spans.map(({ name }) => name)).toEqual(facts);
	for (const span of spans) {
		expect(span).toMatchObject({ traceId: trace.traceId, parentId: trace.spanId, isError: false });
		expect(span.attributes).toMatchObject({
			swapId,
			originChainId: String(originId),
			destinationChainId: String(destinationId),
			fact: span.name,
		});
	}
	expect(spans[1]?.attributes).toMatchObject({ moved: "deposited, delivering" });
	expect(spans[2]?.attributes).toMatchObject({ moved: "settled" });
});

test("each transition is counted once, with the time that the swap took to its final status", async () => {
	const { moves, decided, payouts } = await settle();
	const route = `${originId}-${destinationId}`;
	expect(moves).toEqual([`${route} deposited`, `${route} delivering`, `${route} settled`]);
	expect(decided).toMatchObject([{ status: "settled" }]);
	expect(payouts).toEqual([{ chainId: BigInt(destinationId), token: getAddress(token), amount: 400n }]);
	expect(decided[0]?.seconds).toBeGreaterThan(1);
	expect(decided[0]?.seconds).toBeLessThan(10);
});

test("a round that finds nothing new reports nothing", async () => {
	const twice = await settle({ times: 2 });
	expect(twice.spans.map(({ name }) => name)).toEqual(facts);
	expect(twice.moves).toHaveLength(3);
});

test("a swap that is not traced makes no spans", async () => {
	const { spans, moves } = await settle({ isTraced: false });
	expect(spans).toEqual([]);
	expect(moves).toHaveLength(3);
});

test("a swap continues if telemetry throws", async () => {
	const fail = () => {
		throw new Error("telemetry is broken");
	};
	for (const observer of [
		{ tracer: { begin: fail, record: fail } },
		{ metrics: { moved: fail, decided: fail, givenUp: fail, paidOut: fail, secondAsked: fail } },
	]) {
		const { uuid } = await settle({ observer });
		expect(await readSwap(database.pool, uuid)).toMatchObject({
			status: "settled",
			endedAt: expect.any(Date),
		});
	}
});
