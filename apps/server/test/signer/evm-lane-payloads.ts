import { randomUUID } from "node:crypto";
import { attestationMessage, attestationTypedData, type Order, orderId, toWord } from "@geoswap/protocol";
import { bytesToHex, type Hex, type LocalAccount, parseTransaction, serializeTransaction } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import type { EvmChain } from "../../src/chain/evm/connect-chain.ts";
import { laneKey } from "../../src/durable/poke-targets.ts";
import { createLane } from "../../src/lane/evm/create-lane.ts";
import { lanesByChain } from "../../src/lane/lanes-by-chain.ts";
import type { Delivery } from "../../src/swap/facts/swap-record.ts";
import { createLog } from "../../src/telemetry/log.ts";
import {
	assetOf,
	followHead,
	type LaneScene,
	newOrder,
	newWallet,
	queueWork,
	signOp,
} from "../lane/lane-scene.ts";
import { plainPayments } from "../lane/payment-facts.ts";

/** A transaction that a lane signed, without its signature. */
type LanePayload = { chainId: number; kind: string; unsigned: Hex };

export type RecordedLanes = {
	payloads: LanePayload[];
	/** An order whose input is in the escrow, and that is not filled. */
	opened: Order;
	/** An order that is not opened. */
	unopened: Order;
};

/**
 * Has the real lanes do work of every kind on real chains, which are opens, fills, voids, releases, refunds, a
 * replacement and a cancel. Returns every transaction that they signed.
 */
export async function recordEvmLanes(
	scene: LaneScene,
	{ accountOn }: { accountOn: (chainId: number) => Promise<LocalAccount> },
): Promise<RecordedLanes> {
	const { pool, origin, destination, chains } = scene;
	const run = async (chain: EvmChain, { lateMs = 0, blocksAhead = 0 } = {}) =>
		runLane(scene, chain, { account: await accountOn(chain.chainId), lateMs, blocksAhead });
	const wallet = await newWallet(scene);
	let isDelegated = false;
	const open = async (terms: Partial<Order> = {}): Promise<Order> => {
		const lasting = { openSeconds: 600n, fillSeconds: 600n };
		const order = await newOrder(scene, { wallet: toWord(wallet.address), ...lasting, ...terms });
		const op = await signOp(scene, { order, wallet, authorize: !isDelegated });
		isDelegated = true;
		await queueWork(pool, order, { kind: "open", payload: { op } });
		await run(origin);
		// Writes what the follower would, once the open is final.
		await pool.query("update jobs set state = 'done' where kind = 'open'");
		await pool.query("update lane_transactions set state = 'final'");
		return order;
	};
	const [released, refunded, late, opened] = [
		await open(),
		await open(),
		await open(),
		await open(),
	] as const;
	await settle(scene, "Release", released);
	await run(origin);
	await settle(scene, "Refund", refunded);
	await run(origin);
	await queueWork(pool, late, { kind: "void", payload: {} });
	await run(destination);
	await pool.query("update lane_transactions set state = 'final'");

	const unopened = await newOrder(scene, { wallet: randomWord() });
	const orb = toWord(assetOf(chains.destination, "ORB"));
	const eth = toWord(assetOf(chains.destination, "ETH"));
	const inventory: Delivery = { kind: "inventory", amount: 9_950_000n };
	const fills: [Partial<Order>, Delivery][] = [
		[{}, inventory],
		[
			{ outputToken: orb, minOutput: 1n },
			{ kind: "router", budget: 10_000_000n, fees: [3000] },
		],
		[
			{ outputToken: eth, minOutput: 1n },
			{ kind: "inventory", amount: 10n ** 15n },
		],
	];
	for (const [terms, delivery] of fills) {
		const order = await open({ recipient: randomWord(), ...terms });
		const spends = delivery.kind === "router" ? { spends: assetOf(chains.destination, "USDC") } : {};
		await queueWork(pool, order, { kind: "fill", payload: { delivery } }, spends);
	}
	await run(destination);
	await pool.query("update lane_transactions set state = 'final'");

	const stuck = await open();
	await chains.destination.testClient.setAutomine(false);
	await queueWork(pool, stuck, { kind: "fill", payload: { delivery: inventory } });
	await run(destination);
	await run(destination, { blocksAhead: 5 });
	await run(destination, { blocksAhead: 10, lateMs: 10_000_000 });
	await chains.destination.testClient.setAutomine(true);

	await chains.origin.testClient.increaseTime({ seconds: 1_500 });
	await chains.origin.testClient.mine({ blocks: 1 });
	await queueWork(pool, late, { kind: "refund", payload: { attested: false } });
	await run(origin);
	return { payloads: await readPayloads(scene), opened, unopened };
}

async function runLane(
	scene: LaneScene,
	chain: EvmChain,
	{ account, lateMs, blocksAhead }: { account: LocalAccount; lateMs: number; blocksAhead: number },
): Promise<void> {
	await followHead(scene.pool, chain, { blocksAhead });
	const deps = {
		policy: { bundleSize: 20, replaceAfterBlocks: 5, minimumTipWei: "1000000", finalitySeconds: 5 },
		accounts: [account],
		pool: scene.pool,
		engine: { poke: async () => {} },
		freshMinimum: () => 1n,
		deliveryNow: ({ delivery }: { delivery: Delivery }) => delivery,
		tipNow: () => undefined,
		payments: plainPayments,
		nowMs: () => Date.now() + lateMs,
		log: createLog({ level: "silent", process: "test" }),
	};
	const lanes = new Map([[chain.chainId, createLane({ ...deps, chain })]]);
	await lanesByChain(lanes, deps)(laneKey({ chainId: chain.chainId, relayer: account.address }));
}

async function settle(scene: LaneScene, kind: "Release" | "Refund", order: Order): Promise<void> {
	const { threshold, attesters } = scene.origin.deployment.attesterSet;
	const typedData = attestationTypedData(attestationMessage(kind, [order]));
	const signers = scene.chains.keys.attesters.map((key) => privateKeyToAccount(key)).slice(0, threshold);
	const signatures = await Promise.all(signers.map((signer) => signer.signTypedData(typedData)));
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
			JSON.stringify([orderId(order)]),
		],
	);
	if (kind === "Release") await queueWork(scene.pool, order, { kind: "release", payload: {} });
	else await queueWork(scene.pool, order, { kind: "refund", payload: { attested: true } });
	await scene.pool.query("update jobs set attestation_id = $1 where kind = $2 and order_id = $3", [
		id,
		kind.toLowerCase(),
		Buffer.from(orderId(order).slice(2), "hex"),
	]);
}

async function readPayloads({ pool }: LaneScene): Promise<LanePayload[]> {
	const { rows } = await pool.query<{ chain_id: string; kind: string; raw: Uint8Array }>(
		"select chain_id, kind, raw from lane_transactions order by chain_id, nonce, attempt",
	);
	return rows.map(({ chain_id, kind, raw }) => ({
		chainId: Number(chain_id),
		kind,
		unsigned: withoutSignature(bytesToHex(raw)),
	}));
}

function withoutSignature(raw: Hex): Hex {
	const { r: _, s: __, v: ___, yParity: ____, ...transaction } = parseTransaction(raw);
	return serializeTransaction(transaction as Parameters<typeof serializeTransaction>[0]);
}

function randomWord(): Hex {
	return toWord(privateKeyToAddress(generatePrivateKey()));
}
