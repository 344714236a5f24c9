import { randomUUID } from "node:crypto";
import {
	attestationMessage,
	attestationTypedData,
	fromWord,
	geoVaultAbi,
	type Order,
	orderId,
	toWord,
} from "@geoswap/protocol";
import { bytesToHex, erc20Abi, type Hex, hexToBytes, parseTransaction } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
	createLaneScene,
	followHead,
	type LaneScene,
	newOrder,
	newWallet,
	queueFill,
	queueWork,
	readJob,
	signOp,
} from "../../../test/lane/lane-scene.ts";
import { startLane } from "../../../test/lane/start-lane.ts";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { countFailures } from "../../job/count-failures.ts";

const replaceAfterBlocks = 5;
const amount = 9_950_000n;

let scene: LaneScene;
beforeAll(async () => {
	scene = await createLaneScene();
});
beforeEach(async () => {
	await scene.owner.query("truncate jobs, waits, attestations");
	await scene.pool.query("update lane_transactions set state = 'final'");
});
afterAll(() => scene.stop());

type Changes = { nowMs?: () => number; bundleSize?: number; accounts?: LaneScene["relayers"] };

/** Starts a process and pokes its first lane once. The store's head stays as it is. */
function runLane(chain: EvmChain, changes?: Changes): Promise<void> {
	return startProcess(chain, changes)();
}

/** A process that was just started. Its first lane is poked with each call. */
function startProcess(chain: EvmChain, { bundleSize = 1, ...changes }: Changes = {}): () => Promise<void> {
	return startLane(scene, chain, { policy: { bundleSize, replaceAfterBlocks }, ...changes });
}

const late = () => Date.now() + 116_000;

type Row = {
	hash: Hex;
	raw: Hex;
	kind: string;
	state: string;
	nonce: number;
	attempt: number;
	jobs: { swapId: string }[];
};

async function transactions({ chainId }: EvmChain): Promise<Row[]> {
	const { rows } = await scene.pool.query(
		"select * from lane_transactions where chain_id = $1 and state <> 'final' order by nonce, attempt",
		[chainId],
	);
	return rows.map((row) => ({ ...row, hash: bytesToHex(row.hash), raw: bytesToHex(row.raw) }));
}

/** Writes what a follower writes once it has found this transaction in the newest block. */
async function seeMined({ chainId, client }: EvmChain, { hash }: Row): Promise<void> {
	const number = Number(await client.getBlockNumber({ cacheTime: 0 }));
	await scene.pool.query(
		"update lane_transactions set state = 'mined', block_number = $3 where chain_id = $1 and hash = $2",
		[chainId, hexToBytes(hash), number],
	);
	await countFailures(scene.pool, { chainId, headNumber: number + 1 });
}

function received({ outputToken, recipient }: Order): Promise<bigint> {
	return scene.destination.client.readContract({
		address: fromWord(outputToken),
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [fromWord(recipient)],
	});
}

function vaultState(order: Order): Promise<number> {
	return scene.destination.client.readContract({
		address: fromWord(order.destinationVault),
		abi: geoVaultAbi,
		functionName: "orderState",
		args: [orderId(order)],
	});
}

test("a replacement has the nonce and the jobs of the original; a cancel has its nonce and no call", async () => {
	const { pool, chains, destination, relayers } = scene;
	const { testClient } = chains.destination;
	await testClient.setAutomine(false);
	try {
		const { swapId } = await queueFill(scene, { amount });
		await followHead(pool, destination);
		await runLane(destination);
		await followHead(pool, destination, { blocksAhead: 5 });
		await runLane(destination);
		await followHead(pool, destination, { blocksAhead: 10 });
		await runLane(destination, { nowMs: late });
		const rows = await transactions(destination);
		expect(rows.map(({ kind, attempt, nonce, jobs }) => [kind, attempt, nonce, jobs[0]?.swapId])).toEqual([
			["fill", 0, rows[0]?.nonce, swapId],
			["fill", 1, rows[0]?.nonce, swapId],
			["cancel", 2, rows[0]?.nonce, swapId],
		]);
		const [first, again, cancel] = rows.map(({ raw }) => parseTransaction(raw));
		expect(again).toMatchObject({ nonce: first?.nonce, to: first?.to, data: first?.data, gas: first?.gas });
		expect(cancel).toMatchObject({
			nonce: first?.nonce,
			to: relayers[0]?.address.toLowerCase(),
			gas: 21_000n,
		});
		expect(cancel?.data).toBeUndefined();
		// The job is in no other transaction until the nonce is spent, regardless of how often the lane runs.
		await runLane(destination);
		expect(await readJob(pool, swapId, "fill")).toMatchObject({ state: "sent", nonce: rows[0]?.nonce });
		expect(await transactions(destination)).toHaveLength(3);
	} finally {
		await testClient.mine({ blocks: 1 });
		await testClient.setAutomine(true);
	}
});

test("a fill whose cancel was mined is signed again, and is paid once even if a reorg brings the first one back", async () => {
	const { pool, chains, destination } = scene;
	const { testClient } = chains.destination;
	await testClient.setAutomine(false);
	try {
		const { order, swapId } = await queueFill(scene, { amount });
		await followHead(pool, destination);
		await runLane(destination);
		await followHead(pool, destination, { blocksAhead: 5 });
		await runLane(destination, { nowMs: late });
		const snapshot = await testClient.snapshot();
		await testClient.mine({ blocks: 1 });
		const [fill, cancel] = await transactions(destination);
		if (!fill || !cancel) throw new Error("there are a fill and its cancel");
		expect((await destination.client.getBlock()).transactions).toEqual([cancel.hash]);
		await seeMined(destination, cancel);
		expect(await readJob(pool, swapId, "fill")).toMatchObject({ state: "queued", failures: 0 });
		await followHead(pool, destination);
		await runLane(destination);
		const again = (await transactions(destination)).at(-1);
		expect(again).toMatchObject({ kind: "fill", nonce: fill.nonce + 1 });
		await testClient.mine({ blocks: 1 });
		expect(await vaultState(order)).toBe(1);

		// A reorg drops all that, and the chain has the first transaction instead, and then the other too.
		await testClient.revert({ id: snapshot });
		await testClient.dropTransaction({ hash: cancel.hash });
		await destination.client.sendRawTransaction({ serializedTransaction: fill.raw });
		await testClient.mine({ blocks: 1 });
		expect((await destination.client.getBlock()).transactions).toEqual([fill.hash]);
		await destination.client.sendRawTransaction({ serializedTransaction: again?.raw ?? "0x" });
		await testClient.mine({ blocks: 1 });
		expect((await destination.client.getBlock()).transactions).toEqual([again?.hash]);
		expect(await received(order)).toBe(amount);
	} finally {
		await testClient.setAutomine(true);
	}
});

test("a lane with an outdated store starts at the chain's nonce, and does not repeat an earlier fill", async () => {
	const { pool, destination, relayers } = scene;
	const address = relayers[0]?.address ?? "0x";
	const { order, swapId } = await queueFill(scene, { amount });
	await followHead(pool, destination);
	await runLane(destination);
	expect(await received(order)).toBe(amount);
	// The store is now like an older backup. The job waits, and no transaction is recorded for it.
	const nonce = await destination.client.getTransactionCount({ address });
	const columns = [destination.chainId, hexToBytes(address)];
	await scene.owner.query(
		"delete from lane_transactions where chain_id = $1 and relayer = $2 and nonce = $3",
		[...columns, nonce - 1],
	);
	await pool.query("update lanes set next_nonce = $3 where chain_id = $1 and relayer = $2", [
		...columns,
		nonce - 1,
	]);
	await pool.query("update jobs set state = 'queued', relayer = null, nonce = null where swap_id = $1", [
		swapId,
	]);
	const fresh = await queueFill(scene, { amount });
	await followHead(pool, destination);
	await runLane(destination);
	expect(await received(order)).toBe(amount);
	expect(await received(fresh.order)).toBe(amount);
	// The job waits for the follower to read what is on the chain.
	expect(await readJob(pool, swapId, "fill")).toMatchObject({ state: "queued", failures: 0 });
	expect(await readJob(pool, fresh.swapId, "fill")).toMatchObject({ state: "sent", nonce });
});

test("a store that is set back while a lane runs costs one spent nonce, whose job is done later", async () => {
	const { pool, owner, chains, destination, relayers } = scene;
	const address = relayers[0]?.address ?? "0x";
	const columns = [destination.chainId, hexToBytes(address)];
	const run = startProcess(destination);
	await followHead(pool, destination);
	for (let i = 0; i < 3; i++) await queueFill(scene, { amount });
	await run();
	// A replica that lacks the last three transactions replaces the database.
	const nonce = await destination.client.getTransactionCount({ address });
	await owner.query("delete from lane_transactions where chain_id = $1 and relayer = $2 and nonce >= $3", [
		...columns,
		nonce - 3,
	]);
	await owner.query("truncate jobs");
	await pool.query("update lanes set next_nonce = $3 where chain_id = $1 and relayer = $2", [
		...columns,
		nonce - 3,
	]);
	const fills = [
		await queueFill(scene, { amount }),
		await queueFill(scene, { amount }),
		await queueFill(scene, { amount }),
	];
	await followHead(pool, destination);
	await run();
	expect((await transactions(destination)).map((row) => row.nonce)).toEqual([nonce - 3, nonce, nonce + 1]);
	await expect
		.poll(() => Promise.all(fills.map(({ order }) => received(order))))
		.toEqual([0n, amount, amount]);

	// Once the spent nonce is final its job is signed for again.
	for (let round = 0; round < 3; round++) {
		await chains.destination.testClient.mine({ blocks: 100 });
		await followHead(pool, destination);
		await run();
	}
	await expect
		.poll(() => Promise.all(fills.map(({ order }) => received(order))))
		.toEqual([amount, amount, amount]);
});

test("nonces that a restored store lost and the chain dropped are filled with cancels, and later transactions land", async () => {
	const { pool, destination, relayers } = scene;
	const columns = [destination.chainId, hexToBytes(relayers[0]?.address ?? "0x")];
	await followHead(pool, destination);
	// The restored store began at the chain's nonce, and then the chain dropped two older transactions.
	await pool.query(
		"update lanes set next_nonce = next_nonce + 2 where chain_id = $1 and relayer = $2",
		columns,
	);
	const { order } = await queueFill(scene, { amount });
	await runLane(destination);
	expect(await received(order)).toBe(0n);
	await scene.chains.destination.testClient.mine({ blocks: replaceAfterBlocks });
	await followHead(pool, destination);
	await runLane(destination);
	expect((await transactions(destination)).map(({ kind, attempt }) => [kind, attempt])).toEqual([
		["cancel", 0],
		["cancel", 0],
		["fill", 0],
	]);
	await expect.poll(() => received(order)).toBe(amount);
});

test("a fill whose nonce is taken by a better paid transaction that a restored store lost gets another nonce", async () => {
	const { pool, chains, destination, relayers } = scene;
	const { testClient } = chains.destination;
	const [relayer] = relayers;
	if (!relayer) throw new Error("the scene has relayers");
	await testClient.setAutomine(false);
	try {
		const { order } = await queueFill(scene, { amount });
		const nonce = await destination.client.getTransactionCount({ address: relayer.address });
		await pool.query("update lanes set next_nonce = $1 where chain_id = $2", [
			nonce + 1,
			destination.chainId,
		]);
		// A transaction once spent the nonce before it, and the chain has dropped that transaction.
		const forgotten = await relayer.signTransaction({
			chainId: destination.chainId,
			type: "eip1559",
			to: relayer.address,
			nonce: nonce + 1,
			gas: 21_000n,
			maxFeePerGas: 10n ** 14n,
			maxPriorityFeePerGas: 10n ** 14n,
		});
		await destination.client.sendRawTransaction({ serializedTransaction: forgotten });
		for (let blocksAhead = 0; blocksAhead <= 20; blocksAhead += 5) {
			await followHead(pool, destination, { blocksAhead });
			await runLane(destination);
		}
		expect(await destination.client.getTransactionCount({ address: relayer.address })).toBe(nonce);
		await testClient.mine({ blocks: 1 });
		expect(await destination.client.getTransactionCount({ address: relayer.address })).toBe(nonce + 2);
		// Once it is final, the job of its nonce is done with another nonce.
		for (let round = 0; round < 3; round++) {
			await testClient.mine({ blocks: 100 });
			await followHead(pool, destination);
			await runLane(destination);
			await testClient.mine({ blocks: 1 });
		}
		expect(await received(order)).toBe(amount);
	} finally {
		await testClient.setAutomine(true);
	}
});

test("a fill whose relayer's key is lost, and whose nonce a thief has spent, is sent by another relayer once that is final", async () => {
	const { pool, chains, destination, relayers } = scene;
	const { testClient } = chains.destination;
	const [stolen, ...others] = relayers;
	if (!stolen) throw new Error("the scene has relayers");
	await testClient.setAutomine(false);
	try {
		const { order } = await queueFill(scene, { amount });
		const nonce = await destination.client.getTransactionCount({ address: stolen.address });
		await followHead(pool, destination);
		await runLane(destination);
		expect(await transactions(destination)).toMatchObject([{ kind: "fill", state: "broadcast", nonce }]);
		const theft = await stolen.signTransaction({
			chainId: destination.chainId,
			type: "eip1559",
			to: stolen.address,
			nonce,
			gas: 21_000n,
			maxFeePerGas: 10n ** 14n,
			maxPriorityFeePerGas: 10n ** 14n,
		});
		await destination.client.sendRawTransaction({ serializedTransaction: theft });
		await testClient.mine({ blocks: 1 });
		// The spent nonce is not final yet.
		await followHead(pool, destination, { blocksAhead: 20 });
		await runLane(destination, { accounts: others });
		expect(await transactions(destination)).toMatchObject([{ kind: "fill", nonce }]);
		for (let round = 0; round < 2; round++) {
			await testClient.mine({ blocks: 100 });
			await followHead(pool, destination);
			await runLane(destination, { accounts: others });
			await testClient.mine({ blocks: 1 });
		}
		expect(await received(order)).toBe(amount);
	} finally {
		await testClient.setAutomine(true);
	}
});

test("a fill that was journalled and never sent is cancelled late in its window, even without a new block", async () => {
	const { pool, destination } = scene;
	const { order, swapId } = await queueFill(scene, { amount });
	await followHead(pool, destination);
	const request = async (call: { method: string }) => {
		if (call.method === "eth_sendRawTransaction") throw new Error("connection refused");
		return destination.client.request(call as never);
	};
	await runLane({ ...destination, client: { ...destination.client, request } as typeof destination.client });
	expect(await readJob(pool, swapId, "fill")).toMatchObject({ state: "sent" });
	await runLane(destination, { nowMs: late });
	expect(await vaultState(order)).toBe(0);
	expect((await transactions(destination)).map(({ kind, state }) => `${kind} ${state}`)).toEqual([
		"fill signed",
		"cancel broadcast",
	]);
});

test("a lane that is full of other work still has room for a release", async () => {
	const { pool, chains, origin } = scene;
	const wallet = await newWallet(scene);
	const released = await newOrder(scene, { wallet: toWord(wallet.address) });
	const open = async (order: Order, authorize: boolean) => {
		const op = await signOp(scene, { order, wallet, authorize });
		return queueWork(pool, order, { kind: "open", payload: { op } });
	};
	await open(released, true);
	await followHead(pool, origin);
	await runLane(origin);
	await scene.owner.query("truncate jobs");
	await pool.query("update lane_transactions set state = 'final'");
	await chains.origin.testClient.setAutomine(false);
	try {
		const others: string[] = [];
		for (let i = 0; i < 14; i++) {
			const order = await newOrder(scene, {
				wallet: toWord(wallet.address),
				inputAmount: 1_000n,
				minOutput: 1n,
			});
			others.push(await open(order, false));
		}
		await followHead(pool, origin);
		await runLane(origin);
		const sent = async () => (await transactions(origin)).map(({ kind }) => kind);
		expect(await sent()).toEqual(Array.from({ length: 12 }, () => "open"));

		const swapId = await queueWork(pool, released, { kind: "release", payload: {} });
		await attest(released);
		await runLane(origin);
		expect(await sent()).toEqual([...Array.from({ length: 12 }, () => "open"), "release"]);
		expect(await readJob(pool, swapId, "release")).toMatchObject({ state: "sent" });
		const waiting = await Promise.all(others.map((id) => readJob(pool, id, "open")));
		expect(waiting.filter(({ state }) => state === "queued")).toHaveLength(2);
	} finally {
		await chains.origin.testClient.mine({ blocks: 1 });
		await chains.origin.testClient.setAutomine(true);
	}
});

/** Signs for a release as the attesters of the devnet do once it is due. */
async function attest(order: Order): Promise<void> {
	const { threshold, attesters } = scene.origin.deployment.attesterSet;
	const typedData = attestationTypedData(attestationMessage("Release", [order]));
	const signers = scene.chains.keys.attesters.slice(0, threshold).map((key) => privateKeyToAccount(key));
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
			JSON.stringify([orderId(order)]),
		],
	);
	await scene.pool.query("update jobs set attestation_id = $1 where kind = 'release'", [id]);
}
