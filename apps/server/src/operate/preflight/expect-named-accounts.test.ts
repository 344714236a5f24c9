import { randomBytes } from "node:crypto";
import {
	fromSwapKey,
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	type SolanaDeployment,
	toSwapKey,
} from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
	type SolanaOrderScene,
	solanaOrder,
	solanaOrderScene,
} from "../../../test/order/solana-order-scene.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { expectNamedAccounts } from "./expect-named-accounts.ts";

let database: TestDatabase;
let scene: SolanaOrderScene;
beforeAll(async () => {
	[database, scene] = await Promise.all([createTestDatabase(), solanaOrderScene()]);
});
afterAll(() => database?.drop());
beforeEach(() => database.owner.query("delete from swaps"));

async function insertSwap(changes: Partial<Order> = {}): Promise<void> {
	const { deployment, wallet } = scene;
	const swapKey = toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) }));
	const order = {
		...solanaOrder({ deployment, wallet: wallet.address }),
		swapKey,
		...changes,
	};
	await database.pool.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, 0, 0, '{}')`,
		[fromSwapKey(order.swapKey), hexToBytes(orderId(order)), orderToJson(order)],
	);
}

/** Returns the outcome of a start with another program, vault or operator. */
const startWith = (changes: Partial<SolanaDeployment["program"]> = {}) =>
	expectNamedAccounts(database.pool, { program: { ...scene.deployment.program, ...changes } }).then(
		() => "started",
		(error: Error) => error.message,
	);

/** An order to Solana: its vault is the destination's. */
const toSolana = (): Partial<Order> => {
	const { order } = scene;
	return {
		originChainId: order.destinationChainId,
		destinationChainId: order.originChainId,
		destinationVault: order.originVault,
		originVault: order.destinationVault,
		escrow: order.destinationVault,
	};
};

test("a program and a vault that orders in flight name must be kept until the last of them has ended, and keys need not", async () => {
	const other = scene.stranger.address;
	const { address, vault } = scene.deployment.program;
	expect(await startWith({ address: other, vault: other })).toBe("started");

	await insertSwap();
	await insertSwap();
	expect(await startWith({ operator: other })).toBe("started");
	expect(await startWith({ address: other })).toBe(
		`the deployment's solana: its program is ${other}, but 2 orders under way name ${address}: keep that program until they have ended`,
	);
	expect(await startWith({ vault: other })).toContain(`2 orders under way name ${vault}`);
	await database.pool.query("update swaps set ended_at = now()");
	expect(await startWith({ address: other, vault: other })).toBe("started");
});

test("an order to Solana names the vault there, and no program", async () => {
	const other = scene.stranger.address;
	await insertSwap(toSolana());
	expect(await startWith()).toBe("started");
	expect(await startWith({ address: other })).toBe("started");
	expect(await startWith({ vault: other })).toContain("1 order under way names");
});
