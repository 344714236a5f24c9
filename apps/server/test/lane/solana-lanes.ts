import {
	fromSwapKey,
	type Order,
	orderId,
	type SolanaAddress,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import type { SolanaChain } from "../../src/chain/solana/connect-solana.ts";
import { readMarkers } from "../../src/chain/solana/marker/read-markers.ts";
import { readSolanaWallet } from "../../src/chain/solana/read/read-solana-wallet.ts";
import type { DatabasePool } from "../../src/database/database.ts";
import type { LaneDeps } from "../../src/lane/evm/lane.ts";
import { laneKey } from "../../src/lane/lane-key.ts";
import { createSolanaLane } from "../../src/lane/solana/create-solana-lane.ts";
import type { JobKind } from "../../src/swap/facts/job.ts";
import type { Delivery } from "../../src/swap/facts/swap-record.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { Tracer } from "../../src/telemetry/tracer.ts";
import { takeDue, waitForOrder } from "../swap/due-orders.ts";
import { queueWork, readJob } from "./lane-scene.ts";
import { plainPayments } from "./payment-facts.ts";
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
	outflowCaps: {},
};

export type StartOptions = {
	deliveryNow?: LaneDeps["deliveryNow"];
	chain?: SolanaChain;
	nowMs?: () => number;
	pool?: DatabasePool;
	tracer?: Tracer;
	log?: typeof quietLog;
	bundleSize?: number;
	outflowCaps?: Record<string, string>;
};

export type SolanaLanes = Awaited<ReturnType<typeof createSolanaLanes>>;

/**
 * Creates lanes on a Solana chain whose slots pass when a test says so, and work for them. The follower is a simple
 * one, which believes whatever a node says and always moves the head, or the real one.
 */
export async function createSolanaLanes({ follower = "simple" }: { follower?: "simple" | "real" } = {}) {
	const scene = await createSolanaScene({ slotMs: 3_600_000 });
	const { pool, owner, chain, keys, solana } = scene;
	const follow = () => (follower === "real" ? followReally(scene) : followLanes(scene));

	/** Starts a process with all lanes of Solana. */
	const start = ({
		chain: connection = chain,
		pool: database = pool,
		tracer,
		nowMs = Date.now,
		log = quietLog,
		bundleSize = 20,
		deliveryNow = ({ delivery }) => delivery,
		outflowCaps = {},
	}: StartOptions = {}) => {
		const run = createSolanaLane({
			chain: connection,
			keys,
			policy: { ...solanaLanePolicy, bundleSize, outflowCaps },
			pool: database,
			tracer,
			engine: { poke: async () => {} },
			deliveryNow,
			payments: plainPayments,
			nowMs,
			log,
		});
		return (lane = 0) => run(keyOf(lane));
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
		/** Runs a lane as if it was poked after the follower has seen everything. */
		pump: async (options: StartOptions & { lane?: number } = {}) => {
			await follow();
			await start(options)(options.lane);
		},
		slots: (count: number) => solana.admin.warp({ slots: count }),
		setFaults: solana.admin.setFaults,
		/** Clears everything that the previous test left, so that nothing waits for it. */
		clear: async () => {
			await solana.admin.setFaults({});
			await owner.query("truncate jobs, waits, lane_transactions, markers");
			await solana.admin.warp({ slots: 40 });
		},
		/** Makes the database forget, as if it was restored from before anything was signed. */
		forget: async () => {
			await owner.query("truncate lane_transactions");
			// Deposits on other chains are in block 0, and stay.
			await pool.query("delete from chain_events where block_number > 0");
			await pool.query("update jobs set state = 'queued', relayer = null, nonce = null");
		},
		/** Returns the swaps that were woken since the last call. */
		woken: async () => (await takeDue(pool)).swapIds,
		/** Makes the order's swap wait, so that it can be woken. */
		waitFor: (order: Order) => waitForOrder(pool, order),
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
		/** Queues the settlement of an input that the escrow has. */
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
