import { randomUUID } from "node:crypto";
import {
	attestationMessage,
	attestationTypedData,
	geoEscrowAbi,
	geoVaultAbi,
	type Order,
	orderId,
	toWord,
} from "@geoswap/protocol";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Ability, connectWithout } from "../../../test/chain/connect-without.ts";
import {
	createLaneScene,
	followHead,
	type LaneScene,
	newOrder,
	newWallet,
	queueWork,
	readJob,
	signOp,
} from "../../../test/lane/lane-scene.ts";
import { startLane } from "../../../test/lane/start-lane.ts";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";

let scene: LaneScene;
const stops: (() => Promise<void>)[] = [];
beforeAll(async () => {
	scene = await createLaneScene();
});
beforeEach(async () => {
	await scene.owner.query("truncate jobs, waits, attestations");
	await scene.pool.query("update lane_transactions set state = 'final'");
});
afterAll(async () => {
	await Promise.all(stops.map((stop) => stop()));
	await scene.stop();
});

const lackings: Record<string, Ability[]> = {
	eth_simulateV1: ["eth_simulateV1"],
	"eth_simulateV1 and overrides": ["eth_simulateV1", "overrides in eth_call"],
};

for (const [name, lacks] of Object.entries(lackings)) {
	test(`on nodes without ${name}, swaps are opened, filled and released, and refused ones are distinguished from the others`, async () => {
		const { pool, chains } = scene;
		const origin = await connect("origin", lacks);
		const destination = await connect("destination", lacks);
		const wallet = await newWallet(scene);
		const other = await newWallet(scene);
		const first = await open(wallet, { authorize: true });
		await runLane(origin);
		await expect.poll(() => escrowState(first.order)).toBe(1);
		await pool.query("update jobs set state = 'done' where kind = 'open'");

		const poor = await open(other, { authorize: true, terms: { inputAmount: 10n ** 12n } });
		const second = await open(wallet, { authorize: false });
		await runLane(origin);
		await expect.poll(() => escrowState(second.order)).toBe(1);
		expect(await readJob(pool, poor.swapId, "open")).toMatchObject({ state: "queued", failures: 1 });

		const { escrow } = chains.destination.deployment.contracts;
		const lost = await newOrder(scene, {
			wallet: toWord(other.address),
			outputToken: toWord("0x0000000000000000000000000000000000000000"),
			minOutput: 1n,
			recipient: toWord(escrow),
		});
		for (const order of [first.order, second.order]) await fill(order, 9_950_000n);
		await fill(lost, 10n ** 15n);
		await runLane(destination);
		await expect.poll(() => vaultState(first.order)).toBe(1);
		expect(await vaultState(second.order)).toBe(1);
		const jobs = await Promise.all([first.order, second.order, lost].map((order) => jobOf(order, "fill")));
		expect(jobs).toMatchObject([
			{ state: "sent" },
			{ state: "sent" },
			{ state: "refused", reason: "recipient" },
		]);

		const orders = [first.order, second.order];
		const attestationId = await attested(orders);
		for (const order of orders) await queueWork(pool, order, { kind: "release", payload: {} });
		await pool.query("update jobs set attestation_id = $1 where kind = 'release'", [attestationId]);
		await runLane(origin);
		await expect.poll(() => Promise.all(orders.map(escrowState))).toEqual([2, 2]);
	});
}

async function connect(side: "origin" | "destination", lacks: Ability[]): Promise<EvmChain> {
	const { chain, stop } = await connectWithout(scene.chains[side], lacks);
	stops.push(stop);
	return chain;
}

/** Runs the chain's first lane as if it were poked after the follower has read the newest block. */
async function runLane(chain: EvmChain): Promise<void> {
	await followHead(scene.pool, chain);
	await startLane(scene, chain, { policy: { bundleSize: 20, replaceAfterBlocks: 5 } })();
}

async function open(
	wallet: Awaited<ReturnType<typeof newWallet>>,
	{ authorize, terms = {} }: { authorize: boolean; terms?: Partial<Order> },
): Promise<{ order: Order; swapId: string }> {
	const order = await newOrder(scene, { wallet: toWord(wallet.address), ...terms });
	const op = await signOp(scene, { order, wallet, authorize });
	return { order, swapId: await queueWork(scene.pool, order, { kind: "open", payload: { op } }) };
}

const swapIds = new Map<Order, string>();

async function fill(order: Order, amount: bigint): Promise<void> {
	const work = { kind: "fill", payload: { delivery: { kind: "inventory", amount } } } as const;
	swapIds.set(order, await queueWork(scene.pool, order, work));
}

function jobOf(order: Order, kind: "fill") {
	return readJob(scene.pool, swapIds.get(order) ?? "", kind);
}

function escrowState(order: Order): Promise<number> {
	const address = scene.origin.deployment.contracts.escrow;
	const args = [orderId(order)] as const;
	return scene.origin.client.readContract({ address, abi: geoEscrowAbi, functionName: "orderState", args });
}

function vaultState(order: Order): Promise<number> {
	const address = scene.destination.deployment.contracts.vault;
	const args = [orderId(order)] as const;
	return scene.destination.client.readContract({
		address,
		abi: geoVaultAbi,
		functionName: "orderState",
		args,
	});
}

async function attested(orders: Order[]): Promise<string> {
	const { threshold, attesters } = scene.origin.deployment.attesterSet;
	const typedData = attestationTypedData(attestationMessage("Release", orders));
	const signers = scene.chains.keys.attesters.map((key) => privateKeyToAccount(key)).slice(0, threshold);
	const signatures = await Promise.all(signers.map((signer) => signer.signTypedData(typedData)));
	const id = randomUUID();
	const lists = [attesters, signatures, orders.map(orderId)].map((list) => JSON.stringify(list));
	await scene.pool.query(
		`insert into attestations (id, chain_id, kind, threshold, attesters, signatures, order_ids)
		values ($1, $2, 'Release', $3, $4, $5, $6)`,
		[id, scene.origin.chainId, threshold, ...lists],
	);
	return id;
}
