import { randomUUID } from "node:crypto";
import {
	attestationMessage,
	attestationTypedData,
	fromWord,
	geoEscrowAbi,
	type Order,
	orderId,
	toWord,
} from "@geoswap/protocol";
import { concat } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	createLaneScene,
	followHead,
	type LaneScene,
	newOrder,
	newWallet,
	queueWork,
	readJob,
	signOp,
} from "../../test/lane/lane-scene.ts";
import { laneDeps } from "../../test/lane/start-lane.ts";
import { countingPool } from "../../test/service/counting-pool.ts";
import type { EvmChain } from "../chain/evm/connect-chain.ts";
import type { Handler } from "../durable/engine.ts";
import { laneKey } from "../durable/poke-targets.ts";
import type { JobKind } from "../swap/facts/job.ts";
import { createLane } from "./evm/create-lane.ts";
import { lanesByChain } from "./lanes-by-chain.ts";

const policy = { bundleSize: 20, replaceAfterBlocks: 5, minimumTipWei: "1000000", finalitySeconds: 5 };

let scene: LaneScene;
let counted: ReturnType<typeof countingPool>;
let run: Handler;
beforeAll(async () => {
	scene = await createLaneScene();
	counted = countingPool(scene.pool);
	const deps = laneDeps(counted);
	const lanes = [scene.origin, scene.destination].map((chain): [number, Handler] => [
		chain.chainId,
		createLane({ ...deps, chain, policy, accounts: scene.relayers }),
	]);
	run = lanesByChain(new Map(lanes), deps);
	// The first run of a process reads the nonce from the chain.
	for (const chain of [scene.origin, scene.destination]) await runLane(chain);
});
afterAll(() => scene.stop());

test("a run without work is one statement", async () => {
	expect(await runLane(scene.origin)).toHaveLength(1);
});

test("a run that opens five orders takes four statements, and one that releases them five without a transaction", async () => {
	const { pool, origin } = scene;
	const swapIds: string[] = [];
	const orders: Order[] = [];
	for (let i = 0; i < 5; i++) {
		const wallet = await newWallet(scene);
		const bytecode = concat(["0xef0100", scene.chains.origin.deployment.contracts.delegate]);
		await scene.chains.origin.testClient.setCode({ address: wallet.address, bytecode });
		const order = await newOrder(scene, { wallet: toWord(wallet.address) });
		const op = await signOp(scene, { order, wallet, authorize: false });
		orders.push(order);
		swapIds.push(await queueWork(pool, order, { kind: "open", payload: { op } }));
	}
	expect(await runLane(origin)).toHaveLength(4);
	expect(await statesOf(swapIds, "open")).toEqual(["sent", "sent", "sent", "sent", "sent"]);

	await expect.poll(() => Promise.all(orders.map(escrowState)), { timeout: 10_000 }).toEqual([1, 1, 1, 1, 1]);
	for (const order of orders) await queueWork(pool, order, { kind: "release", payload: {} });
	await attest(orders);
	const statements = await runLane(origin);
	expect(statements).toHaveLength(5);
	expect(statements).not.toContain("begin");
	expect(await statesOf(swapIds, "release")).toEqual(["sent", "sent", "sent", "sent", "sent"]);
});

test("a run that fills five orders takes five statements, without a transaction", async () => {
	const swapIds = [];
	for (let i = 0; i < 5; i++) {
		const { address } = await newWallet(scene);
		const order = await newOrder(scene, { wallet: toWord(address) });
		const payload = { delivery: { kind: "inventory", amount: 9_950_000n } } as const;
		swapIds.push(await queueWork(scene.pool, order, { kind: "fill", payload }));
	}
	const statements = await runLane(scene.destination);
	expect(statements).toHaveLength(5);
	expect(statements).not.toContain("begin");
	expect(await statesOf(swapIds, "fill")).toEqual(["sent", "sent", "sent", "sent", "sent"]);
});

function escrowState(order: Order): Promise<number> {
	return scene.origin.client.readContract({
		address: fromWord(order.escrow),
		abi: geoEscrowAbi,
		functionName: "orderState",
		args: [orderId(order)],
	});
}

/** Hands the releases of these orders to the lanes, with the attesters' signatures. */
async function attest(orders: Order[]): Promise<void> {
	const { threshold, attesters } = scene.origin.deployment.attesterSet;
	const typedData = attestationTypedData(attestationMessage("Release", orders));
	const signers = scene.chains.keys.attesters.map((key) => privateKeyToAccount(key)).slice(0, threshold);
	const signatures = await Promise.all(signers.map((signer) => signer.signTypedData(typedData)));
	const id = randomUUID();
	await scene.pool.query(
		`insert into attestations (id, chain_id, kind, threshold, attesters, signatures, order_ids)
		values ($1, $2, 'Release', $3, $4, $5, $6)`,
		[
			id,
			scene.origin.chainId,
			threshold,
			JSON.stringify(attesters),
			JSON.stringify(signatures),
			JSON.stringify(orders.map(orderId)),
		],
	);
	await scene.pool.query("update jobs set attestation_id = $1 where kind = 'release'", [id]);
}

function statesOf(swapIds: readonly string[], kind: JobKind): Promise<string[]> {
	return Promise.all(swapIds.map(async (swapId) => (await readJob(scene.pool, swapId, kind)).state));
}

/** Returns the statements of a run. */
async function runLane(chain: EvmChain): Promise<string[]> {
	await followHead(scene.pool, chain);
	counted.statements.length = 0;
	await run(laneKey({ chainId: chain.chainId, relayer: scene.relayers[0]?.address ?? "0x" }));
	return [...counted.statements];
}
