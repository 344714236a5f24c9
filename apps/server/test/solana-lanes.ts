import {
	fromSwapKey,
	type Order,
	orderId,
	type SolanaAddress,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import { hexToBytes } from "viem";
import type { SolanaChain } from "../src/chain/solana/connect-solana.ts";
import { readMarkers } from "../src/chain/solana/read-markers.ts";
import { readSolanaWallet } from "../src/chain/solana/read-solana-wallet.ts";
import type { Durable } from "../src/durable/durable.ts";
import { createSolanaLane } from "../src/lane/create-solana-lane.ts";
import { laneKey } from "../src/lane/lane-key.ts";
import { createLog } from "../src/log.ts";
import type { DatabasePool } from "../src/store/database.ts";
import type { JobKind } from "../src/store/job.ts";
import type { Delivery } from "../src/store/swap-record.ts";
import type { Tracer } from "../src/telemetry/tracer.ts";
import { queueWork, readJob } from "./lane-scene.ts";
import {
	createSolanaScene,
	depositOrder,
	devnetWallet,
	followLanes,
	followReally,
	mintOf,
	newSolanaWallet,
	payoutOrder,
	signSolanaOp,
} from "./solana-lane-scene.ts";

export const payout: Delivery = { kind: "payout", amount: 9_950_000n, unusedRent: 300_000n };
export const quietLog = createLog({ level: "silent", process: "test" });
export const markerSeconds = 86_400;
export const solanaLanePolicy = {
	bundleSize: 20,
	blockhashSeconds: { least: 45, most: 120 },
	computePriceMicroLamports: "50000",
	markerSeconds,
};

export const forgetfulDurable: Durable = {
	step: (_, run) => run(),
	newSignal: unexpected,
	sleep: unexpected,
	poke: unexpected,
};

export type StartOptions = {
	chain?: SolanaChain;
	nowMs?: () => number;
	pool?: DatabasePool;
	tracer?: Tracer;
	log?: typeof quietLog;
	bundleSize?: number;
};

export type SolanaLanes = Awaited<ReturnType<typeof createSolanaLanes>>;

/**
 * Lanes on a Solana chain whose slots pass when a test says so, and work for them. Who follows the chain is a simple one,
 * which believes whatever a node says and always moves the head, or the real one.
 */
export async function createSolanaLanes({ follower = "simple" }: { follower?: "simple" | "real" } = {}) {
	const scene = await createSolanaScene({ slotMs: 3_600_000 });
	const { pool, chain, keys, solana } = scene;
	const raised: string[] = [];
	const follow = () => (follower === "real" ? followReally(scene) : followLanes(scene));

	/** A process with all lanes of Solana. */
	const start = ({
		chain: connection = chain,
		pool: database = pool,
		tracer,
		nowMs = Date.now,
		log = quietLog,
		bundleSize = 20,
	}: StartOptions = {}) => {
		const run = createSolanaLane({
			chain: connection,
			keys,
			policy: { ...solanaLanePolicy, bundleSize },
			pool: database,
			tracer,
			engine: {
				raise: async (signal) => {
					raised.push(signal);
				},
			},
			nowMs,
			log,
		});
		return (lane = 0) => run(forgetfulDurable, keyOf(lane));
	};
	const feePayerOf = (lane: number): SolanaAddress => {
		const feePayer = chain.deployment.feePayers[lane];
		if (!feePayer) throw new Error(`no fee payer ${lane}`);
		return feePayer;
	};
	const keyOf = (lane: number) =>
		laneKey({ chainId: chain.chainId, relayer: toSolanaWord(feePayerOf(lane)) });

	return {
		...scene,
		scene,
		follower,
		follow,
		start,
		feePayerOf,
		keyOf,
		/** What a lane does when it is poked after the follower has seen all there is. */
		pump: async (options: StartOptions & { lane?: number } = {}) => {
			await follow();
			await start(options)(options.lane);
		},
		slots: (count: number) => solana.admin.warp({ slots: count }),
		setFaults: solana.admin.setFaults,
		/** Nobody waits for what the test before left. */
		clear: async () => {
			await solana.admin.setFaults({});
			await pool.query("truncate jobs, waits, lane_transactions, markers");
			raised.length = 0;
			await solana.admin.warp({ slots: 40 });
		},
		/** As in a store that was restored from before it was signed for. */
		forget: async () => {
			await pool.query("truncate lane_transactions, chain_events");
			await pool.query("update jobs set state = 'queued', relayer = null, nonce = null");
		},
		/** Which swaps were woken since the last time. */
		woken: () => raised.splice(0).map((signal) => signal.replace("signal of ", "")),
		/** Lets the order's swap be woken. */
		waitFor: async (order: Order) => {
			const swapId = fromSwapKey(order.swapKey);
			await pool.query("insert into waits (swap_id, order_id, signal_id) values ($1, $2, $3)", [
				swapId,
				hexToBytes(orderId(order)),
				`signal of ${swapId}`,
			]);
		},
		queuePayout: async () => {
			const { address: recipient } = await newSolanaWallet(scene);
			const order = payoutOrder(scene, { recipient: toSolanaWord(recipient) });
			const swapId = await queueWork(pool, order, { kind: "fill", payload: { delivery: payout } });
			return { order, swapId, recipient };
		},
		queueVoid: async () => {
			const { address } = await newSolanaWallet(scene);
			const order = payoutOrder(scene, { recipient: toSolanaWord(address) });
			return { order, swapId: await queueWork(pool, order, { kind: "void", payload: {} }) };
		},
		/** Of an input that the escrow has. */
		queueSettlement: async (kind: "release" | "refund") => {
			const wallet = (await newSolanaWallet(scene)).address;
			const token = mintOf(chain, "USDC");
			await solana.admin.mintTo({ owner: chain.deployment.escrow, token, amount: 10_000_000n });
			const order = depositOrder(scene, { wallet: toSolanaWord(wallet) });
			const swapId = await queueWork(
				pool,
				order,
				kind === "release" ? { kind, payload: {} } : { kind, payload: { attested: false } },
			);
			return { order, swapId, wallet };
		},
		queueOpen: async ({
			feePayer = 0,
			wallet: index = 0,
			...terms
		}: {
			feePayer?: number;
			wallet?: number;
			inputAmount?: bigint;
		} = {}) => {
			const wallet = await devnetWallet(scene, index);
			const order = depositOrder(scene, { wallet: toSolanaWord(wallet.address), ...terms });
			const op = await signSolanaOp(scene, { order, wallet, feePayer: feePayerOf(feePayer) });
			return { order, swapId: await queueWork(pool, order, { kind: "open", payload: { op } }) };
		},
		balance: async (owner: SolanaAddress, symbol = "USDC"): Promise<bigint> => {
			const token = symbol === "SOL" ? solanaNativeToken : mintOf(chain, symbol);
			return (await readSolanaWallet(chain, { wallet: owner, token: toSolanaWord(token) })).balance;
		},
		decided: (orders: readonly Order[], base: "vault" | "escrow") =>
			readMarkers(chain, {
				base: chain.deployment[base],
				orderIds: orders.map(orderId),
				commitment: "confirmed",
			}),
		states: async (orders: readonly Order[], kind: JobKind): Promise<string[]> => {
			const jobs = await Promise.all(orders.map(({ swapKey }) => readJob(pool, fromSwapKey(swapKey), kind)));
			return jobs.map(({ state }) => state);
		},
		transactions: async () => {
			const { rows } = await pool.query<{
				kind: string;
				state: string;
				raw: Buffer;
				hash: Buffer;
				jobs: object[];
			}>("select kind, state, raw, hash, jobs from lane_transactions order by created_at, nonce");
			return rows;
		},
	};
}

function unexpected(): never {
	throw new Error("not expected");
}
