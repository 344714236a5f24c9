import type { LyingNodeCall } from "@geoswap/devnet";
import { geoEscrowAbi, type Order, orderId } from "@geoswap/protocol";
import { encodeFunctionData, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DustScene, nativeOf, startDustScene } from "../../test/order/dust-scene.ts";
import { createAuditMemory } from "./audit-memory.ts";
import type { Breach } from "./read/report.ts";

let scene: DustScene;
beforeAll(async () => {
	scene = await startDustScene();
});
afterAll(() => scene?.stop());

test("third parties' orders, their refunds and credits are summed to the unit, even if a node refuses requests, and take no memory", async () => {
	const { audit, callEscrow, chains, openDust } = scene;
	const memory = createAuditMemory();
	const dust: Order[] = [];
	for (let block = 0; block < 10; block++) dust.push(...(await openDust(40)));
	const report = await audit(memory);
	expect(report).toMatchObject({ breaches: [], unchecked: [], orders: 0 });
	expect(report.chains[0]?.otherOrders).toEqual({ open: 400, uncounted: 0, unlistedBlocks: 0 });
	expect(nativeOf(report)).toMatchObject({ escrowExpected: "400", escrowActual: "400" });
	expect(memory.chains.get(chains.origin.chainId)?.events.opened).toEqual([]);

	const [due] = dust;
	if (!due) throw new Error("no order was opened");
	await chains.origin.testClient.increaseTime({ seconds: 11_000 });
	await callEscrow(
		dust.slice(0, 40).map((order) => ({
			data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [order] }),
		})),
	);
	const refunded = await audit(memory);
	expect(refunded).toMatchObject({ breaches: [], unchecked: [] });
	expect(refunded.chains[0]?.otherOrders).toEqual({ open: 360, uncounted: 0, unlistedBlocks: 0 });
	// The contract that opened them takes no payment, so it is owed their inputs.
	expect(nativeOf(refunded)).toMatchObject({ escrowExpected: "400", escrowActual: "400" });
	expect(nativeOf(await audit())).toEqual(nativeOf(refunded));

	const { escrow } = chains.origin.deployment.contracts;
	await chains.origin.testClient.setBalance({ address: escrow, value: 399n });
	expect((await audit(memory)).breaches).toMatchObject([{ invariant: "I1", amount: "1" }]);
	await chains.origin.testClient.setBalance({ address: escrow, value: 400n });
}, 600_000);

test("an order of a third party that the books record later, or that one of the service's keys acts on, is checked like a known one", async () => {
	const { actions, audit, chains, insertSwap } = scene;
	const memory = createAuditMemory();
	const [late, stolen, released] = [
		await actions.makeOrder(),
		await actions.makeOrder(),
		await actions.makeOrder(),
	];
	for (const order of [late, stolen, released]) await actions.open(order);
	const before = await audit(memory);
	expect(before).toMatchObject({ breaches: [], orders: 0 });

	await insertSwap(late);
	await actions.fill(stolen, 900_000_000n, { isTheft: true });
	await actions.decide("Release", released);
	const report = await audit(memory);
	const found = report.breaches.map(({ invariant, orderId: id }) => [id, invariant]);
	expect(found).toHaveLength(2);
	expect(found).toEqual(
		expect.arrayContaining([
			[orderId(stolen), "I6"],
			[orderId(released), "I5"],
		]),
	);
	expect(report.orders).toBe(3);
	const judged = memory.chains.get(chains.origin.chainId)?.events.opened.map((event) => event.orderId);
	expect(judged?.toSorted()).toEqual([late, stolen, released].map((order) => orderId(order)).toSorted());
	expect(report.chains[0]?.otherOrders?.open).toBe((before.chains[0]?.otherOrders?.open ?? 0) - 3);
}, 600_000);

test("a block with more orders than the node lists is audited, and a swap that it contains is judged", async () => {
	const { audit, chains, insertSwap, openDust } = scene;
	const before = await audit();
	const dust = await openDust(300);
	const own = dust[150];
	if (!own) throw new Error("no order was opened");
	await insertSwap(own);
	const memory = createAuditMemory();
	const report = await audit(memory);
	expect(report.unchecked).toEqual([]);
	const isNew = ({ message }: Breach) => before.breaches.every((one) => one.message !== message);
	expect(report.breaches.filter(isNew)).toEqual([]);
	const judged = memory.chains.get(chains.origin.chainId)?.events.opened.map((event) => event.orderId);
	expect(judged).toContain(orderId(own));
	// Orders of strangers in this block are in no sum. The sums still contain all earlier orders of strangers.
	const open = before.chains[0]?.otherOrders?.open;
	expect(report.chains[0]?.otherOrders).toEqual({ open, uncounted: 0, unlistedBlocks: 1 });
	expect(nativeOf(report)).toMatchObject({ escrowExpected: "401", escrowActual: "700" });
}, 600_000);

test("a reading that fails continues in the next audit where it stopped", async () => {
	const { audit, chains, node, openDust } = scene;
	const { chainId, publicClient } = chains.origin;
	const memory = createAuditMemory();
	await openDust(1);
	const gap = Number(await publicClient.getBlockNumber());
	await openDust(1);
	const { liar } = node;
	const rangeOf = ({ params }: LyingNodeCall) => {
		const [{ fromBlock, toBlock }] = params as [{ fromBlock: Hex; toBlock: Hex }];
		return { from: Number(fromBlock), to: Number(toBlock) };
	};
	node.liar = (call, ...rest) =>
		call.method === "eth_getLogs" && rangeOf(call).to >= gap ? { status: 503 } : liar?.(call, ...rest);
	const failed = await audit(memory);
	expect(failed.unchecked).toMatchObject([{ chainId }]);
	expect(failed.breaches.filter(({ chainIds }) => chainIds.includes(chainId))).toEqual([]);
	expect(memory.chains.get(chainId)?.upTo).toBe(gap - 1);
	node.liar = liar;
	node.calls.length = 0;
	expect((await audit(memory)).unchecked).toEqual([]);
	// The terms of a single order may be read again in an earlier block.
	const isRange = ({ method, params }: LyingNodeCall) =>
		method === "eth_getLogs" && (params as [{ topics: unknown[] }])[0].topics.length === 1;
	const read = node.calls.filter(isRange).map(rangeOf);
	expect(Math.min(...read.map(({ from }) => from))).toBe(gap);
}, 600_000);

test("refunds of third parties' orders that name the service's contracts need no block request for their time, unless the node omits it from logs", async () => {
	const { chains, actions, openDust, callEscrow, audit, node } = scene;
	const before = await audit();
	const { originVault } = await actions.makeOrder();
	const orders = await openDust(5, { originVault });
	await chains.origin.testClient.increaseTime({ seconds: 11_000 });
	for (const order of orders) {
		await callEscrow([
			{ data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [order] }) },
		]);
	}
	const blockRequests = async () => {
		node.calls.length = 0;
		const report = await audit();
		expect(report.unchecked).toEqual([]);
		expect(report.breaches.map(({ message }) => message)).toEqual(
			before.breaches.map(({ message }) => message),
		);
		const isOfNumber = ({ method, params }: LyingNodeCall) =>
			method === "eth_getBlockByNumber" && String((params as unknown[])[0]).startsWith("0x");
		return node.calls.filter(isOfNumber).length;
	};
	const withTimes = await blockRequests();
	const { liar } = node;
	node.liar = (call, result, ...rest) => {
		const lie = liar?.(call, result, ...rest);
		if (lie || call.method !== "eth_getLogs" || !Array.isArray(result)) return lie;
		return { result: result.map(({ blockTimestamp: _, ...log }) => log) };
	};
	const withoutTimes = await blockRequests();
	node.liar = liar;
	expect(withoutTimes - withTimes).toBe(orders.length);
}, 600_000);
