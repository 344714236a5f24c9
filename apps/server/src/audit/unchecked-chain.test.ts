import { afterAll, beforeAll, expect, test } from "vitest";
import { type DustScene, startDustScene } from "../../test/order/dust-scene.ts";
import { createAuditMemory } from "./audit-memory.ts";
import { reconcile } from "./reconcile.ts";

let scene: DustScene;
beforeAll(async () => {
	scene = await startDustScene();
});
afterAll(() => scene?.stop());

test("while a chain cannot be checked, the events of swaps that are read again are kept, and they are dropped once it can be checked", async () => {
	const { chains, actions, database, insertSwap, follow } = scene;
	const { origin, destination } = chains;
	const order = await actions.makeOrder();
	await actions.open(order);
	for (const { testClient } of [origin, destination]) await testClient.increaseTime({ seconds: 11_000 });
	await actions.decide("Refund", order);
	await insertSwap(order, { status: "refunded", endedSecondsAgo: 1_200 });
	await follow();

	const memory = createAuditMemory();
	const unchecked = { chainId: 31_339, rpcUrl: "http://127.0.0.1:1", deployment: destination.deployment };
	const audit = (others: (typeof unchecked)[]) =>
		reconcile({
			pool: database.pool,
			chains: [origin, destination, ...others],
			earlierAttesterSets: [],
			memory,
			nowMs: Date.now(),
		});
	for (let i = 0; i < 3; i++) {
		expect(await audit([unchecked])).toMatchObject({ unchecked: [{ chainId: 31_339 }], breaches: [] });
	}
	expect(await audit([])).toMatchObject({ unchecked: [], breaches: [], swaps: 1 });
	expect(memory.chains.get(origin.chainId)?.events).toMatchObject({ opened: [], refunded: [] });
	expect(await audit([unchecked])).toMatchObject({
		unchecked: [{ chainId: 31_339 }],
		breaches: [],
		swaps: 0,
	});
}, 600_000);
