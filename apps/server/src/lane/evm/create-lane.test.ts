import { randomUUID } from "node:crypto";
import { SignerError } from "@geoswap/keys/signer-error";
import {
	attestationMessage,
	attestationTypedData,
	encodeBundle,
	fromWord,
	geoEscrowAbi,
	geoVaultAbi,
	type Order,
	orderId,
	toWord,
} from "@geoswap/protocol";
import {
	concat,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	hexToBytes,
	keccak256,
	type LocalAccount,
	parseGwei,
	parseTransaction,
	RpcRequestError,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import {
	assetOf,
	createLaneScene,
	followHead,
	type LaneScene,
	newOrder,
	newWallet,
	queueWork,
	readJob,
	sendAsAnyone,
	signOp,
} from "../../../test/lane/lane-scene.ts";
import { plainPayments } from "../../../test/lane/payment-facts.ts";
import { takeDue, waitForOrder } from "../../../test/swap/due-orders.ts";
import { answeringTraces } from "../../../test/telemetry/answering-traces.ts";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import type { DatabasePool } from "../../database/database.ts";
import { laneKey } from "../../durable/poke-targets.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";
import { createLog } from "../../telemetry/log.ts";
import type { Tracer } from "../../telemetry/tracer.ts";
import { lanesByChain } from "../lanes-by-chain.ts";
import { createLane } from "./create-lane.ts";

const policy = { bundleSize: 20, replaceAfterBlocks: 5, minimumTipWei: "1000000", finalitySeconds: 5 };
const inventory: Delivery = { kind: "inventory", amount: 9_950_000n };

let scene: LaneScene;
beforeAll(async () => {
	scene = await createLaneScene();
});
beforeEach(async () => {
	// The transactions of the test before count as final, and no work waits for them.
	await scene.owner.query("truncate jobs, waits, attestations");
	await settleAll();
});
afterAll(() => scene.stop());

/** A process with all lanes of both chains. */
function startLanes({
	bundleSize = policy.bundleSize,
	freshMinimum = () => 0n,
	deliveryNow = ({ delivery }) => delivery,
	origin = scene.origin,
	destination = scene.destination,
	nowMs = Date.now,
	pool = scene.pool,
	accounts = scene.relayers,
	tracer,
}: {
	bundleSize?: number;
	freshMinimum?: (fill: { inFlight: bigint }) => bigint;
	deliveryNow?: Parameters<typeof createLane>[0]["deliveryNow"];
	origin?: EvmChain;
	destination?: EvmChain;
	nowMs?: () => number;
	pool?: DatabasePool;
	accounts?: LocalAccount[];
	tracer?: Tracer;
} = {}) {
	const deps = {
		policy: { ...policy, bundleSize },
		accounts,
		pool,
		tracer,
		engine: { poke: async () => {} },
		freshMinimum,
		deliveryNow,
		tipNow: () => undefined,
		payments: plainPayments,
		nowMs,
		log: createLog({ level: "silent", process: "test" }),
	};
	const lanes = [origin, destination].map(
		(chain) => [chain.chainId, createLane({ ...deps, chain })] as const,
	);
	const run = lanesByChain(new Map(lanes), deps);
	return ({ chainId }: EvmChain, relayer = 0) =>
		run(laneKey({ chainId, relayer: scene.relayers[relayer]?.address ?? "0x" }));
}

/** Runs a lane as if it were poked after the follower has read the newest block. */
async function runLane(chain: EvmChain, options: Parameters<typeof startLanes>[0] = {}): Promise<void> {
	await followHead(scene.pool, chain);
	await startLanes(options)(chain);
}

test("ops share one transaction, and an op with an authorization is sent alone, with the authorization only while it is needed", async () => {
	const [first, second] = await Promise.all([newWallet(scene), newWallet(scene)]);
	// Two concurrent first swaps of one wallet. The second's authorization is stale when it is sent.
	const opens: [typeof first, boolean][] = [
		[first, true],
		[first, true],
		[second, true],
	];
	const activating: Awaited<ReturnType<typeof open>>[] = [];
	for (const [wallet, authorize] of opens) activating.push(await open(wallet, authorize));
	// The node makes the first one's block in its own time, and until then refuses the next authorization of that wallet.
	await expect
		.poll(
			async () => {
				await runLane(scene.origin);
				return nonces(activating.map((order) => order.swapId));
			},
			{ timeout: 10_000 },
		)
		.toHaveLength(3);
	await expect.poll(() => states(activating.map(({ order }) => order))).toEqual([1, 1, 1]);
	// As if the follower had read them.
	await scene.pool.query("update jobs set state = 'done' where kind = 'open'");

	const later = [await open(first, false), await open(second, false), await open(second, true)];
	await runLane(scene.origin);
	const jobs = await Promise.all(later.map(({ swapId }) => readJob(scene.pool, swapId, "open")));
	await expect.poll(() => states(later.map(({ order }) => order))).toEqual([1, 1, 1]);
	expect(jobs[0]?.nonce).toBe(jobs[1]?.nonce);
	expect(jobs[2]?.nonce).not.toBe(jobs[0]?.nonce);
	const { rows } = await scene.pool.query<{ raw: Uint8Array }>(
		"select raw from lane_transactions where chain_id = $1 and nonce = $2",
		[scene.origin.chainId, jobs[2]?.nonce],
	);
	const [type] = rows.map(({ raw }) => raw[0]);
	expect(type).toBe(2);
});

test("orders of one wallet share a transaction; if its balance pays for one of two, only the other is tried again", async () => {
	const [honest, busy, poor] = await Promise.all([delegatedWallet(), delegatedWallet(), delegatedWallet()]);
	// Each holds 100 USDC.
	const opens = [
		await open(honest, false),
		await open(busy, false),
		await open(poor, false, { inputAmount: 60_000_000n }),
		await open(busy, false),
		await open(poor, false, { inputAmount: 60_000_000n }),
		await open(honest, false),
	];
	await runLane(scene.origin);
	await expect.poll(() => states(opens.map(({ order }) => order))).toEqual([1, 1, 1, 1, 0, 1]);
	expect(await bundlesOf(opens)).toEqual([[0, 1, 2, 3, 5]]);
	const jobs = await Promise.all(opens.map(({ swapId }) => readJob(scene.pool, swapId, "open")));
	expect(jobs.map(({ state, failures }) => [state, failures])).toEqual(
		opens.map((_, i) => (i === 4 ? ["queued", 1] : ["sent", 0])),
	);
});

test("an order whose wallet spends its input just before the block fails no other order of its transaction", async () => {
	const { origin, chains } = scene;
	const [honest, hostile] = await Promise.all([delegatedWallet(), delegatedWallet()]);
	const opens = [await open(honest, false), await open(hostile, false), await open(honest, false)];
	const transfer = encodeFunctionData({
		abi: erc20Abi,
		functionName: "transfer",
		args: [privateKeyToAddress(generatePrivateKey()), 100_000_000n],
	});
	const spend = () =>
		sendAsAnyone(chains.origin, { to: assetOf(chains.origin, "USDC"), data: transfer }, hostile);
	await runLane(origin, { origin: sendingAfter(origin, spend) });
	await expect.poll(() => states(opens.map(({ order }) => order))).toEqual([1, 0, 1]);
	expect(await bundlesOf(opens)).toEqual([[0, 1, 2]]);
});

test("orders of different escrows share no transaction", async () => {
	const wallet = await delegatedWallet();
	const opens = [await open(wallet, false), await open(wallet, false), await open(wallet, false)];
	// There is no escrow at this address, so the order would not open.
	await scene.pool.query(
		"update jobs set order_terms = order_terms || jsonb_build_object('escrow', $2::text) where swap_id = $1",
		[opens[1]?.swapId, randomWord()],
	);
	await runLane(scene.origin);
	expect(await bundlesOf(opens)).toEqual([[0, 2]]);
	await expect.poll(() => states([0, 2].flatMap((i) => opens[i]?.order ?? []))).toEqual([1, 1]);
});

test("an op that the chain refuses fails no other op, gets three tries, and wakes its swap", async () => {
	const [honest, other] = await Promise.all([newWallet(scene), newWallet(scene)]);
	await Promise.all([open(honest, true), open(other, true)]);
	await runLane(scene.origin);

	const poor = await open(other, false, { inputAmount: 10n ** 12n });
	const forged = await open(other, false);
	await scene.pool.query(
		"update jobs set payload = jsonb_set(payload, '{op,signature}', $2) where swap_id = $1",
		[forged.swapId, JSON.stringify(await honest.signMessage({ message: "no" }))],
	);
	const good = await open(honest, false);
	for (const { order } of [poor, forged]) await waitForOrder(scene.pool, order);
	for (let block = 0; block < 3; block++) {
		if (block > 0) {
			for (const { swapId } of [poor, forged]) {
				expect(await readJob(scene.pool, swapId, "open")).toMatchObject({ state: "queued", failures: block });
			}
		}
		await runLane(scene.origin);
		await scene.chains.origin.testClient.mine({ blocks: 1 });
	}
	await expect.poll(() => states([good.order, poor.order, forged.order])).toEqual([1, 0, 0]);
	for (const { swapId } of [poor, forged]) {
		expect(await readJob(scene.pool, swapId, "open")).toMatchObject({ state: "refused", reason: "reverted" });
	}
	const { swapIds } = await takeDue(scene.pool);
	expect(swapIds).toEqual(expect.arrayContaining([poor.swapId, forged.swapId]));
});

test("an open that gives no valid transaction is refused and its swap is due, and the others are signed", async () => {
	const { pool } = scene;
	const wallet = await newWallet(scene);
	const changes = [
		{
			payload: {
				op: {
					kind: "solana",
					feePayer: "11111111111111111111111111111112",
					blockhash: "any",
					lastValidBlockHeight: "1",
					compute: { unitLimit: 1, microLamportsPerUnit: "1" },
					signature: "0x00",
				},
			},
		},
		{ order_terms: { wallet: `0x${"ff".repeat(32)}` } },
		{ payload: { op: { junk: 1 } } },
	];
	const unfit: string[] = [];
	for (const { payload = {}, order_terms = {} } of changes) {
		const { order, swapId } = await open(await newWallet(scene), false);
		await waitForOrder(pool, order);
		await pool.query(
			"update jobs set payload = payload || $2, order_terms = order_terms || $3, turn = -5 where swap_id = $1",
			[swapId, payload, order_terms],
		);
		unfit.push(swapId);
	}
	const good = await open(wallet, true);
	await runLane(scene.origin);
	await expect.poll(() => states([good.order])).toEqual([1]);
	const { rows } = await pool.query("select reason from jobs where state = 'refused'");
	expect(rows).toEqual(unfit.map(() => ({ reason: "reverted" })));
	expect((await takeDue(pool)).swapIds.toSorted()).toEqual(unfit.toSorted());
});

test("fills share one transaction without those that would fail, which are refused or retried alone", async () => {
	const { chains, pool, destination } = scene;
	const orb = toWord(assetOf(chains.destination, "ORB"));
	const eth = toWord(assetOf(chains.destination, "ETH"));
	// The escrow has no way to receive the native token.
	const refusing = toWord(destination.deployment.contracts.escrow);
	const router: Delivery = { kind: "router", budget: 10_000_000n, fees: [3000] };
	const cases = [
		{ delivery: inventory, terms: {}, ends: { state: "sent" } },
		{ delivery: inventory, terms: {}, ends: { state: "sent" } },
		{ delivery: router, terms: { outputToken: orb, minOutput: 1n }, ends: { state: "sent" } },
		{
			delivery: { kind: "inventory", amount: 10n ** 15n },
			terms: { outputToken: eth, minOutput: 1n },
			ends: { state: "sent" },
		},
		{
			delivery: router,
			terms: { outputToken: orb, minOutput: 10n ** 30n },
			ends: { state: "queued", alone: true, failures: 1 },
		},
		{
			delivery: { kind: "inventory", amount: 10n ** 15n },
			terms: {},
			ends: { state: "refused", reason: "liquidity" },
		},
		{
			delivery: { kind: "inventory", amount: 10n ** 15n },
			terms: { outputToken: eth, minOutput: 1n, recipient: refusing },
			ends: { state: "refused", reason: "recipient" },
		},
	] as const;
	const swapIds = [];
	for (const { delivery, terms } of cases) {
		const order = await newOrder(scene, { wallet: randomWord(), ...terms });
		swapIds.push(await queueFillOf(order, { ...delivery } as Delivery));
	}
	await runLane(destination);
	const jobs = await Promise.all(swapIds.map((swapId) => readJob(pool, swapId, "fill")));
	expect(jobs).toMatchObject(cases.map(({ ends }) => ends));
	const sent = jobs.filter((job) => job.state === "sent");
	expect(new Set(sent.map((job) => job.nonce)).size).toBe(1);
	expect(await Promise.all(sent.map(({ orderId: id }) => vaultState(id)))).toEqual([1, 1, 1, 1]);
});

test("a fill of the native token that is sent alone has enough gas for its payment", async () => {
	const outputToken = toWord(assetOf(scene.chains.destination, "ETH"));
	const order = await newOrder(scene, { wallet: randomWord(), outputToken, minOutput: 1n });
	const delivery: Delivery = { kind: "inventory", amount: 10n ** 15n };
	await queueWork(scene.pool, order, { kind: "fill", payload: { delivery } });
	await runLane(scene.destination);
	await expect.poll(() => vaultState(orderId(order))).toBe(1);
});

test("a fill through the router is refused if it would deliver less than the fresh minimum", async () => {
	const outputToken = toWord(assetOf(scene.chains.destination, "ORB"));
	const order = await newOrder(scene, { wallet: randomWord(), outputToken, minOutput: 1n });
	const delivery: Delivery = { kind: "router", budget: 10_000_000n, fees: [3000] };
	const swapId = await queueFillOf(order, delivery);
	for (let block = 0; block < 3; block++) {
		expect((await readJob(scene.pool, swapId, "fill")).state).toBe("queued");
		await runLane(scene.destination, { freshMinimum: () => 10n ** 30n });
		await scene.chains.destination.testClient.mine({ blocks: 1 });
	}
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "price" });
	expect(await vaultState(orderId(order))).toBe(0);
});

test("a fill pays the amount that may be delivered at signing, and waits while there is no price", async () => {
	const { pool, chains, destination } = scene;
	const order = await newOrder(scene, { wallet: randomWord() });
	const swapId = await queueWork(pool, order, { kind: "fill", payload: { delivery: inventory } });
	await runLane(destination, { deliveryNow: () => "no-price" });
	expect(await readJob(pool, swapId, "fill")).toMatchObject({ state: "queued", failures: 0 });
	expect(await vaultState(orderId(order))).toBe(0);

	await chains.destination.testClient.mine({ blocks: 1 });
	await runLane(destination, { deliveryNow: () => ({ kind: "inventory", amount: 9_910_000n }) });
	await expect.poll(() => vaultState(orderId(order))).toBe(1);
	const paid = await chains.destination.publicClient.readContract({
		abi: erc20Abi,
		address: assetOf(chains.destination, "USDC"),
		functionName: "balanceOf",
		args: [fromWord(order.recipient)],
	});
	expect(paid).toBe(9_910_000n);
});

test("a fill is refused once its input is worth less than the minimum, unless its swap was settled", async () => {
	const { pool, destination } = scene;
	const orders = [
		await newOrder(scene, { wallet: randomWord() }),
		await newOrder(scene, { wallet: randomWord() }),
	];
	const swapIds: string[] = [];
	for (const order of orders) {
		swapIds.push(await queueWork(pool, order, { kind: "fill", payload: { delivery: inventory } }));
	}
	await pool.query("update swaps set status = 'settled' where id = $1", [swapIds[0]]);
	await runLane(destination, { deliveryNow: () => "below-minimum" });
	const jobs = await Promise.all(swapIds.map((id) => readJob(pool, id, "fill")));
	expect(jobs).toMatchObject([{ state: "sent" }, { state: "refused", reason: "price" }]);
	await expect.poll(() => Promise.all(orders.map((order) => vaultState(orderId(order))))).toEqual([1, 0]);
});

test("a fill for which its bundle leaves too little is retried alone in the next block", async () => {
	const { pool, chains, destination } = scene;
	const outputToken = toWord(assetOf(chains.destination, "ORB"));
	const delivery: Delivery = { kind: "router", budget: 10_000_000n, fees: [3000] };
	const swapIds: string[] = [];
	for (let i = 0; i < 2; i++) {
		const order = await newOrder(scene, { wallet: randomWord(), outputToken, minOutput: 1n });
		swapIds.push(await queueFillOf(order, delivery));
	}
	const freshMinimum = ({ inFlight }: { inFlight: bigint }) => (inFlight === 0n ? 1n : 10n ** 30n);
	const read = () => Promise.all(swapIds.map((swapId) => readJob(pool, swapId, "fill")));
	await followHead(pool, destination);
	await startLanes({ freshMinimum })(destination);
	expect(await read()).toMatchObject([{ state: "sent" }, { state: "queued", alone: true, failures: 1 }]);
	await runLane(destination, { freshMinimum });
	expect(await read()).toMatchObject([{ state: "sent" }, { state: "sent" }]);
});

test("nothing is signed for an order that is past its deadline", async () => {
	const wallet = await newWallet(scene);
	const expired = await open(wallet, true);
	const order = await newOrder(scene, { wallet: randomWord() });
	const late = await queueWork(scene.pool, order, { kind: "fill", payload: { delivery: inventory } });
	await runLane(scene.origin, { nowMs: () => Date.now() + 61_000 });
	await runLane(scene.destination, { nowMs: () => Date.now() + 116_000 });
	expect(await readJob(scene.pool, expired.swapId, "open")).toMatchObject({
		state: "refused",
		reason: "expired",
	});
	expect(await readJob(scene.pool, late, "fill")).toMatchObject({ state: "refused", reason: "too_late" });
});

test("releases go before all other jobs, and are sent as the whole attested list", async () => {
	const { pool, origin, chains } = scene;
	const wallet = await newWallet(scene);
	const opened = [await open(wallet, true), await open(wallet, true), await open(wallet, true)];
	await runLane(origin);
	const another = await open(wallet, false);
	const orders = opened.map(({ order }) => order);
	const attestationId = await attested("Release", orders);
	for (const order of orders) await queueWork(pool, order, { kind: "release", payload: {} });
	await pool.query("update jobs set attestation_id = $1 where kind = 'release'", [attestationId]);
	// A third party released one of them meanwhile. The others are still released.
	await sendAsAnyone(chains.origin, await releaseOne(orders.slice(1, 2)));
	await runLane(origin, { bundleSize: 1 });
	await expect.poll(() => states(orders)).toEqual([2, 2, 2]);
	const jobs = await Promise.all(opened.map(({ swapId }) => readJob(pool, swapId, "release")));
	expect(jobs).toMatchObject([{ state: "sent" }, { state: "queued" }, { state: "sent" }]);
	expect(jobs[0]?.nonce).toBe(jobs[2]?.nonce);
	expect((await readJob(pool, another.swapId, "open")).nonce).toBeGreaterThan(jobs[0]?.nonce ?? 0);
});

test("voids close orders, and a refund without attesters waits until the escrow allows it", async () => {
	const { pool, origin, destination } = scene;
	const wallet = await newWallet(scene);
	const { order, swapId } = await open(wallet, true);
	await runLane(origin);
	await queueWork(pool, order, { kind: "void", payload: {} });
	await queueWork(pool, order, { kind: "refund", payload: { attested: false } });
	await runLane(destination);
	await runLane(origin);
	await expect.poll(() => vaultState(orderId(order))).toBe(2);
	await expect.poll(() => states([order])).toEqual([1]);
	expect(await readJob(pool, swapId, "refund")).toMatchObject({ state: "queued", failures: 1 });
});

test("a fill that the signer refuses permanently gets failures and is refused, and delays no other", async () => {
	const { pool, destination, chains } = scene;
	const [bad, good] = [await queueFill(), await queueFill()];
	const accounts = scene.relayers.map((account): LocalAccount => {
		const signTransaction: LocalAccount["signTransaction"] = async (transaction, options) => {
			if (transaction.data?.includes(bad.order.swapKey.slice(2))) {
				const name = { reference: "remote:relayer", backend: "remote" } as const;
				throw new SignerError(name, "not-ours", { isRetryable: false });
			}
			return account.signTransaction(transaction, options);
		};
		return { ...account, signTransaction };
	});
	await expect
		.poll(async () => {
			await runLane(destination, { accounts });
			await chains.destination.testClient.mine({ blocks: 1 });
			return (await readJob(pool, bad.swapId, "fill")).state;
		})
		.toBe("refused");
	expect(await vaultState(orderId(good.order))).toBe(1);
	expect(await vaultState(orderId(bad.order))).toBe(0);
});

test("a journalled transaction that was not sent is sent later, byte for byte, and nothing is signed until then", async () => {
	const { pool, destination } = scene;
	const [first, second] = [await queueFill(), await queueFill()];
	await runLane(destination, { destination: unableToSend(destination), bundleSize: 1 });
	const { rows: before } = await openTransactions(destination);
	expect(before).toMatchObject([{ state: "signed" }]);
	expect((await readJob(pool, second.swapId, "fill")).state).toBe("queued");

	await runLane(destination, { bundleSize: 1 });
	await expect.poll(() => vaultState(orderId(first.order))).toBe(1);
	await expect.poll(() => vaultState(orderId(second.order))).toBe(1);
	const { rows: after } = await openTransactions(destination);
	expect(after[0]).toMatchObject({ state: "broadcast", raw: before[0]?.raw });
});

test("a stuck transaction is replaced by the same call at a 25 % higher fee, and a late fill by a cancel", async () => {
	const { pool, chains, destination } = scene;
	const { testClient } = chains.destination;
	await testClient.setAutomine(false);
	try {
		const kept = await queueFill();
		await runLane(destination, { bundleSize: 1 });
		await followHead(pool, destination, { blocksAhead: 5 });
		await startLanes()(destination);
		const { rows } = await openTransactions(destination);
		const [original, replacement] = rows.map(({ raw }) => parseTransaction(toHex(raw)));
		expect(replacement).toMatchObject({ nonce: original?.nonce, data: original?.data, gas: original?.gas });
		expect(replacement?.maxFeePerGas).toBeGreaterThanOrEqual(((original?.maxFeePerGas ?? 0n) * 5n) / 4n);
		await testClient.mine({ blocks: 1 });
		await expect.poll(() => vaultState(orderId(kept.order))).toBe(1);
		expect((await destination.client.getBlock()).transactions).toEqual([keccak256(toHex(rows[1]?.raw))]);
		await settleAll();

		const late = await queueFill();
		await runLane(destination);
		await followHead(pool, destination, { blocksAhead: 5 });
		await startLanes({ nowMs: () => Date.now() + 116_000 })(destination);
		await testClient.mine({ blocks: 1 });
		expect(await vaultState(orderId(late.order))).toBe(0);
		expect(await journal(destination)).toEqual(["fill broadcast", "cancel broadcast"]);
	} finally {
		await testClient.setAutomine(true);
	}
});

test("a transaction whose fee the chain refuses is signed again with a higher fee and the same jobs", async () => {
	const { pool, chains, destination } = scene;
	const { order } = await queueFill();
	await followHead(pool, destination);
	// The base fee rises to a multiple before the lane knows of it.
	await chains.destination.testClient.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei("50") });
	await chains.destination.testClient.mine({ blocks: 1 });
	await startLanes()(destination);
	expect((await openTransactions(destination)).rows).toMatchObject([{ state: "signed" }]);
	await followHead(pool, destination, { blocksAhead: 4 });
	await startLanes()(destination);
	expect((await openTransactions(destination)).rows).toHaveLength(1);

	await followHead(pool, destination, { blocksAhead: 5 });
	await startLanes()(destination);
	expect((await openTransactions(destination)).rows).toMatchObject([
		{ state: "signed" },
		{ state: "broadcast", kind: "fill" },
	]);
	await expect.poll(() => vaultState(orderId(order))).toBe(1);
});

test("a transaction that was not sent is cancelled if its fill is too late by then", async () => {
	const { pool, destination } = scene;
	const { order } = await queueFill();
	await runLane(destination, { destination: unableToSend(destination) });
	await followHead(pool, destination, { blocksAhead: 5 });
	await startLanes({ nowMs: () => Date.now() + 116_000 })(destination);
	expect(await vaultState(orderId(order))).toBe(0);
	expect(await journal(destination)).toEqual(["fill signed", "cancel broadcast"]);
});

test("an op whose authorization the chain refuses is cancelled immediately and counts a failure, and the others continue", async () => {
	const { pool, origin } = scene;
	const other = await newWallet(scene);
	await open(other, true);
	await runLane(origin);
	await settleAll();

	const refused = await open(await newWallet(scene), true);
	const behind = await open(other, false);
	await runLane(origin, {
		origin: refusing(origin, { message: "authority already reserved", prefix: "0x04" }),
	});
	expect(await journal(origin)).toEqual(["open signed", "cancel broadcast", "open broadcast"]);
	await expect.poll(() => states([refused.order, behind.order])).toEqual([0, 1]);
	expect(await readJob(pool, refused.swapId, "open")).toMatchObject({
		state: "sent",
		failures: 1,
		alone: true,
	});
});

test("an op is not cancelled because of a rate limit or a fee that is too low", async () => {
	const { pool, origin } = scene;
	const { order, swapId } = await open(await newWallet(scene), true);
	await runLane(origin, {
		origin: refusing(origin, { message: "max fee per gas less than block base fee" }),
	});
	expect(await journal(origin)).toEqual(["open signed"]);
	const answers = [
		{ code: -32_005, message: "daily request count exceeded, request rate limited" },
		{ code: -32_603, message: "Internal error" },
	];
	for (const [i, answer] of answers.entries()) {
		await followHead(pool, origin, { blocksAhead: 5 * (i + 1) });
		await startLanes({ origin: refusing(origin, answer) })(origin);
		expect(await journal(origin)).toEqual(["open signed"]);
	}
	expect(await readJob(pool, swapId, "open")).toMatchObject({ state: "sent", failures: 0 });
	await runLane(origin);
	await expect.poll(() => states([order])).toEqual([1]);
});

test("a refused call with a high enough fee is cancelled, and a refused cancel is left unchanged", async () => {
	const { pool, destination } = scene;
	const refuseAll = { destination: refusing(destination, { message: "exceeds block gas limit" }) };
	const { swapId } = await queueFill();
	await followHead(pool, destination);
	await pool.query("update chain_heads set base_fee = base_fee * 100");
	await startLanes(refuseAll)(destination);
	for (const blocksAhead of [5, 10, 15]) {
		await followHead(pool, destination, { blocksAhead });
		await startLanes(refuseAll)(destination);
		expect(await journal(destination)).toEqual(["fill signed", "cancel signed"]);
	}
	expect(await readJob(pool, swapId, "fill")).toMatchObject({ state: "sent", failures: 1 });
	await runLane(destination);
	expect(await journal(destination)).toEqual(["fill signed", "cancel broadcast"]);
});

test("a fill is sent even if the lookup of traces never answers", async () => {
	const { pool, destination } = scene;
	const { order } = await queueFill();
	const never = answeringTraces(pool, () => new Promise(() => {}));
	await runLane(destination, { pool: never, tracer: { begin: unexpected, record: unexpected } });
	await expect.poll(() => vaultState(orderId(order))).toBe(1);
});

test("failures to send a transaction are recorded in one span, and the later success in another", async () => {
	const { destination } = scene;
	await queueFill();
	const told: string[] = [];
	const traced = {
		pool: answeringTraces(scene.pool, async (ids) => ids.map((id) => ({ id, trace: "a trace" }))),
		tracer: {
			begin: unexpected,
			record: (...[name, { attributes }]: Parameters<Tracer["record"]>) =>
				told.push([name, attributes.attempt, attributes.outcome].join(" ").trim()),
		},
	};
	for (let run = 0; run < 4; run++) {
		await runLane(destination, { ...traced, destination: unableToSend(destination) });
	}
	await runLane(destination, traced);
	await vi.waitFor(() =>
		expect(told).toEqual(["transaction signed 0", "transaction sent 0 unsent", "transaction sent 0 sent"]),
	);
});

test("a relayer without funds signs nothing more, gives its jobs to others, and fills its nonce gap once it is funded", async () => {
	const { pool, chains, destination, relayers } = scene;
	const address = relayers[0]?.address ?? "0x";
	const value = await destination.client.getBalance({ address });
	await chains.destination.testClient.setBalance({ address, value: 0n });
	const first = await queueFill();
	await runLane(destination);
	const second = await queueFill();
	await followHead(pool, destination, { blocksAhead: 4 });
	await startLanes()(destination);
	expect((await readJob(pool, first.swapId, "fill")).state).toBe("sent");
	await followHead(pool, destination, { blocksAhead: 5 });
	for (let run = 0; run < 2; run++) await startLanes()(destination);
	expect(await journal(destination)).toEqual(["fill signed", "cancel signed"]);
	for (const { swapId } of [first, second]) {
		expect((await readJob(pool, swapId, "fill")).state).toBe("queued");
	}
	await startLanes()(destination, 1);
	for (const { order } of [first, second]) await expect.poll(() => vaultState(orderId(order))).toBe(1);

	await chains.destination.testClient.setBalance({ address, value });
	const third = await queueFill();
	await runLane(destination);
	await expect.poll(() => vaultState(orderId(third.order))).toBe(1);
	const { rows } = await openTransactions(destination);
	const ownRows = rows.filter(({ relayer }) => toHex(relayer) === address.toLowerCase());
	expect(ownRows.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
		"fill signed",
		"cancel broadcast",
		"fill broadcast",
	]);
});

test("a stuck transaction is replaced even if the node has no old state", async () => {
	const { pool, chains, destination } = scene;
	await chains.destination.testClient.setAutomine(false);
	try {
		await queueFill();
		await runLane(destination);
		await followHead(pool, destination, { blocksAhead: 5 });
		await startLanes({ destination: forgetful(destination) })(destination);
		expect((await openTransactions(destination)).rows).toHaveLength(2);
	} finally {
		await chains.destination.testClient.mine({ blocks: 1 });
		await chains.destination.testClient.setAutomine(true);
	}
});

test("a transaction in a block that the follower has not read yet is not replaced, regardless of the number of blocks behind", async () => {
	const { pool, destination } = scene;
	const { order } = await queueFill();
	await runLane(destination);
	await expect.poll(() => vaultState(orderId(order))).toBe(1);
	await followHead(pool, destination, { blocksAhead: 5 });
	await startLanes()(destination);
	const { rows } = await openTransactions(destination);
	expect(rows).toHaveLength(1);
	await settleAll();
});

test("a replacement keeps the authorization that its op needs", async () => {
	const { pool, chains, origin } = scene;
	const { order } = await open(await newWallet(scene), true);
	await chains.origin.testClient.setAutomine(false);
	try {
		await runLane(origin);
		await followHead(pool, origin, { blocksAhead: 5 });
		await startLanes()(origin);
		await chains.origin.testClient.mine({ blocks: 1 });
		const { rows } = await openTransactions(origin);
		expect((await origin.client.getBlock()).transactions).toEqual([keccak256(toHex(rows[1]?.raw))]);
		await expect.poll(() => states([order])).toEqual([1]);
	} finally {
		await chains.origin.testClient.setAutomine(true);
	}
});

test("jobs whose nonce was spent by another transaction are queued again once that is final", async () => {
	const { pool, chains, destination, relayers } = scene;
	const { order, swapId } = await queueFill();
	const run = startLanes({ destination: unableToSend(destination) });
	await followHead(pool, destination);
	await run(destination, 1);
	const relayer = relayers[1];
	if (!relayer) throw new Error("the devnet has several relayers");
	await sendAsAnyone(chains.destination, { to: relayer.address }, relayer);
	await pool.query("update lane_transactions set state = 'broadcast' where state = 'signed'");
	await followHead(pool, destination, { blocksAhead: 5 });
	await startLanes()(destination, 1);
	expect(await vaultState(orderId(order))).toBe(0);
	expect((await readJob(pool, swapId, "fill")).state).toBe("sent");

	await chains.destination.testClient.mine({ blocks: 10 });
	await followHead(pool, destination, { blocksAhead: 10 });
	await startLanes()(destination, 1);
	await expect.poll(() => vaultState(orderId(order))).toBe(1);
});

test("lanes that run concurrently, each even twice, take each job once and leave no gap in their nonces", async () => {
	const { pool, destination } = scene;
	const queued: Awaited<ReturnType<typeof queueFill>>[] = [];
	for (let i = 0; i < 24; i++) queued.push(await queueFill());
	await followHead(pool, destination);
	const processes = [startLanes({ bundleSize: 3 }), startLanes({ bundleSize: 3 })];
	const runAll = () =>
		Promise.all(processes.flatMap((run) => [0, 1, 2].map((relayer) => run(destination, relayer))));
	await runAll();
	// The node makes blocks at its own pace. While it makes one, it may simulate with the new state and the time of the
	// block before. The vault then panics because time runs backwards, and the fills are to be tried again in the next
	// block. They are tried as if that block existed, because no follower marks transactions as mined, so the head must
	// not move on.
	await expect
		.poll(async () => {
			const filled = await Promise.all(queued.map(({ order }) => vaultState(orderId(order))));
			if (filled.includes(0)) {
				await pool.query("update jobs set not_before_block = 0 where state = 'queued'");
				await runAll();
			}
			return filled;
		})
		.toEqual(queued.map(() => 1));
	const { rows } = await pool.query<{ jobs: { swapId: string }[] }>(
		"select jobs from lane_transactions where chain_id = $1 and state <> 'final'",
		[destination.chainId],
	);
	const taken = rows.flatMap(({ jobs }) => jobs.map((job) => job.swapId));
	expect(taken.toSorted()).toEqual(queued.map(({ swapId }) => swapId).toSorted());
	for (const relayer of [0, 1, 2]) {
		const address = scene.relayers[relayer]?.address ?? "0x";
		const { rows: lanes } = await pool.query<{ next_nonce: number }>(
			"select next_nonce from lanes where chain_id = $1 and relayer = $2",
			[destination.chainId, hexToBytes(address)],
		);
		expect(await destination.client.getTransactionCount({ address })).toBe(lanes[0]?.next_nonce);
	}
});

/** A wallet with 100 USDC that is delegated already. */
async function delegatedWallet(): Promise<Awaited<ReturnType<typeof newWallet>>> {
	const wallet = await newWallet(scene);
	const bytecode = concat(["0xef0100", scene.chains.origin.deployment.contracts.delegate]);
	await scene.chains.origin.testClient.setCode({ address: wallet.address, bytecode });
	return wallet;
}

/** Returns which of these orders are together in each transaction that is under way. */
async function bundlesOf(opens: readonly { swapId: string }[]): Promise<number[][]> {
	const { rows } = await scene.pool.query<{ jobs: { swapId: string }[] }>(
		"select jobs from lane_transactions where chain_id = $1 and kind = 'open' and state <> 'final' order by nonce",
		[scene.origin.chainId],
	);
	return rows.map(({ jobs }) =>
		jobs.map((job) => opens.findIndex(({ swapId }) => swapId === job.swapId)).sort((a, b) => a - b),
	);
}

async function open(
	wallet: Awaited<ReturnType<typeof newWallet>>,
	authorize: boolean,
	terms: Partial<Order> = {},
): Promise<{ order: Order; swapId: string }> {
	const order = await newOrder(scene, { wallet: toWord(wallet.address), ...terms });
	const op = await signOp(scene, { order, wallet, authorize });
	return { order, swapId: await queueWork(scene.pool, order, { kind: "open", payload: { op } }) };
}

function queueFillOf(order: Order, delivery: Delivery): Promise<string> {
	const bought = delivery.kind === "router" ? { spends: assetOf(scene.chains.destination, "USDC") } : {};
	return queueWork(scene.pool, order, { kind: "fill", payload: { delivery } }, bought);
}

async function queueFill(): Promise<{ order: Order; swapId: string }> {
	const order = await newOrder(scene, { wallet: randomWord() });
	const swapId = await queueWork(scene.pool, order, { kind: "fill", payload: { delivery: inventory } });
	return { order, swapId };
}

async function nonces(swapIds: string[]): Promise<number[]> {
	const jobs = await Promise.all(swapIds.map((swapId) => readJob(scene.pool, swapId, "open")));
	return [...new Set(jobs.flatMap((job) => job.nonce ?? []))];
}

function openTransactions({ chainId }: EvmChain) {
	return scene.pool.query<{ relayer: Uint8Array; raw: Uint8Array; state: string; kind: string }>(
		"select * from lane_transactions where chain_id = $1 and state <> 'final' order by relayer, nonce, attempt",
		[chainId],
	);
}

async function journal(chain: EvmChain): Promise<string[]> {
	const { rows } = await openTransactions(chain);
	return rows.map(({ kind, state }) => `${kind} ${state}`);
}

/** Writes what a follower writes once everything is final. */
async function settleAll(): Promise<void> {
	await scene.pool.query("update lane_transactions set state = 'final'");
}

function states(orders: readonly Order[]): Promise<number[]> {
	return Promise.all(
		orders.map((order) =>
			scene.origin.client.readContract({
				address: fromWord(order.escrow),
				abi: geoEscrowAbi,
				functionName: "orderState",
				args: [orderId(order)],
			}),
		),
	);
}

function vaultState(id: Hex): Promise<number> {
	return scene.destination.client.readContract({
		address: scene.destination.deployment.contracts.vault,
		abi: geoVaultAbi,
		functionName: "orderState",
		args: [id],
	});
}

async function attestationOf(kind: "Release" | "Refund", orders: Order[]) {
	const { threshold, attesters } = scene.origin.deployment.attesterSet;
	const typedData = attestationTypedData(attestationMessage(kind, orders));
	const signers = scene.chains.keys.attesters.map((key) => privateKeyToAccount(key)).slice(0, threshold);
	const signatures = await Promise.all(signers.map((signer) => signer.signTypedData(typedData)));
	return { threshold, attesters, signatures };
}

async function attested(kind: "Release" | "Refund", orders: Order[]): Promise<string> {
	const { threshold, attesters, signatures } = await attestationOf(kind, orders);
	const id = randomUUID();
	await scene.pool.query(
		`insert into attestations (id, chain_id, kind, threshold, attesters, signatures, order_ids)
		values ($1, $2, $3, $4, $5, $6, $7)`,
		[
			id,
			scene.origin.chainId,
			kind,
			threshold,
			JSON.stringify(attesters),
			JSON.stringify(signatures),
			JSON.stringify(orders.map(orderId)),
		],
	);
	return id;
}

async function releaseOne(orders: Order[]) {
	const attestation = await attestationOf("Release", orders);
	return encodeBundle({
		kind: "release",
		escrow: scene.origin.deployment.contracts.escrow,
		orders,
		attestation: { ...attestation, threshold: BigInt(attestation.threshold) },
	});
}

/** A chain that answers, and takes no transaction. */
function unableToSend(chain: EvmChain): EvmChain {
	const request = async (call: { method: string }) => {
		if (call.method === "eth_sendRawTransaction") throw new Error("connection refused");
		return chain.client.request(call as never);
	};
	return { ...chain, client: { ...chain.client, request } as typeof chain.client };
}

/** A chain on which something happens just before it gets a transaction. */
function sendingAfter(chain: EvmChain, happen: () => Promise<void>): EvmChain {
	const request = async (call: { method: string }) => {
		if (call.method === "eth_sendRawTransaction") await happen();
		return chain.client.request(call as never);
	};
	return { ...chain, client: { ...chain.client, request } as typeof chain.client };
}

/** A chain that refuses all transactions with this message, or those with this prefix. */
function refusing(
	chain: EvmChain,
	{ code = -32_000, message, prefix = "0x" }: { code?: number; message: string; prefix?: Hex },
): EvmChain {
	const request = async (call: { method: string; params?: unknown }) => {
		const [raw] = Array.isArray(call.params) ? call.params : [];
		if (call.method === "eth_sendRawTransaction" && String(raw).startsWith(prefix)) {
			throw new RpcRequestError({ body: {}, error: { code, message }, url: "" });
		}
		return chain.client.request(call as never);
	};
	return { ...chain, client: { ...chain.client, request } as typeof chain.client };
}

/** A chain whose node has the state of the newest block only. */
function forgetful(chain: EvmChain): EvmChain {
	const { getTransactionCount } = chain.client;
	const recent: typeof getTransactionCount = (options) => {
		if (options.blockNumber !== undefined) throw new Error("missing trie node");
		return getTransactionCount(options);
	};
	return { ...chain, client: { ...chain.client, getTransactionCount: recent } };
}

function randomWord(): Hex {
	return toWord(privateKeyToAddress(generatePrivateKey()));
}

function toHex(bytes: Uint8Array | undefined): Hex {
	return `0x${Buffer.from(bytes ?? []).toString("hex")}`;
}

function unexpected(): never {
	throw new Error("a lane waits for nothing and asks nobody");
}
