import { deriveDevnetKeys } from "@geoswap/devnet";
import {
	attestationDigest,
	attestationMessage,
	fromSolanaWord,
	fromSwapKey,
	fundOrder,
	isSolana,
	type Order,
	openOrder,
	orderAddress,
	orderId,
	orderToJson,
	packDeadlines,
	prepareOrder,
	recordAddress,
	type SolanaAddress,
	type SwapUuid,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, type Instruction, type KeyPairSigner } from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { sign } from "viem/accounts";
import { readOrders, readRecords } from "../../src/chain/solana/program/read-orders.ts";
import { readBlockhash } from "../../src/chain/solana/read/read-slots.ts";
import { readSolanaWallet } from "../../src/chain/solana/read/read-solana-wallet.ts";
import { readStatuses } from "../../src/chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import { signInstructions } from "../../src/chain/solana/send/sign-instructions.ts";
import { laneKey } from "../../src/durable/poke-targets.ts";
import { storeAttestation } from "../../src/job/attestations.ts";
import { createSolanaLane } from "../../src/lane/solana/create-solana-lane.ts";
import type { SolanaLaneDeps } from "../../src/lane/solana/solana-lane.ts";
import type { JobKind } from "../../src/swap/facts/job.ts";
import type { Delivery } from "../../src/swap/facts/swap-record.ts";
import { createLog } from "../../src/telemetry/log.ts";
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
	successesOf,
} from "./solana-lane-scene.ts";

export const payout: Delivery = { kind: "payout", amount: 9_950_000n, unusedRent: 300_000n };

export const quietLog = createLog({ level: "silent", process: "test" });

/** Returns a log that keeps the objects logged as errors, without the messages. */
export function errorLog(): { log: typeof quietLog; errors: object[] } {
	const errors: object[] = [];
	const log = createLog({ level: "silent", process: "test" });
	log.error = ((about: object) => {
		errors.push(about);
	}) as typeof log.error;
	return { log, errors };
}

export const solanaLanePolicy = {
	bundleSize: 20,
	computePriceMicroLamports: "50000",
	finalitySeconds: 20,
};

export type StartOptions = Partial<Omit<SolanaLaneDeps, "engine" | "policy">> & { bundleSize?: number };

type Terms = Partial<Order> & { symbol?: string };

export type SolanaLanes = Awaited<ReturnType<typeof createSolanaLanes>>;

/**
 * Creates lanes on a Solana chain whose slots pass only on a test's request, and work for them. The simple follower
 * stores everything that a node returns about the lanes' transactions, and always moves the head. Only the real one
 * compares orders with their accounts.
 */
export async function createSolanaLanes({ follower = "simple" }: { follower?: "simple" | "real" } = {}) {
	const scene = await createSolanaScene({ slotMs: 3_600_000 });
	const { pool, owner, chain, keys, solana } = scene;
	const { deployment } = chain;
	const [stranger] = (await Promise.all(
		solana.keys.strangers.map((key) => createKeyPairSignerFromBytes(key)),
	)) as [KeyPairSigner];
	const follow = () => (follower === "real" ? followReally(scene) : followLanes(scene));
	const slots = (count: number) => solana.admin.warp({ slots: count });
	let secondsAhead = 0;
	/** The clock of the chain, and of lanes. */
	const nowMs = () => Date.now() + secondsAhead * 1_000;

	/** Starts a process with all lanes of Solana. Returns a function that runs one of them. */
	const start = ({ bundleSize = 20, ...options }: StartOptions = {}) => {
		const run = createSolanaLane({
			chain,
			keys,
			pool,
			engine: { poke: async () => {} },
			deliveryNow: ({ delivery }) => delivery,
			payments: plainPayments,
			nowMs,
			log: quietLog,
			...options,
			policy: { ...solanaLanePolicy, bundleSize },
		});
		return (lane = 0) => run(keyOf(lane, options));
	};
	const feePayerOf = (lane: number, { chain: { deployment } } = { chain }): SolanaAddress => {
		const feePayer = deployment.feePayers[lane];
		if (!feePayer) throw new Error(`no fee payer ${lane}`);
		return feePayer;
	};
	const keyOf = (lane: number, { chain: through = chain }: Pick<StartOptions, "chain"> = {}) =>
		laneKey({ chainId: chain.chainId, relayer: toSolanaWord(feePayerOf(lane, { chain: through })) });

	/** Lands a stranger's transaction. */
	const land = async (...instructions: Instruction[]): Promise<void> => {
		const { blockhash } = await readBlockhash(chain);
		const parts = { feePayer: stranger, blockhash, computePrice: 0n, unitLimit: 400_000 };
		const { raw, signature } = await signInstructions({ ...parts, instructions });
		await sendRaw(chain, raw);
		await slots(3);
		const [status] = await readStatuses(chain, [signature]);
		if (status?.isFailed !== false) throw new Error("a stranger's transaction did not land");
	};

	/** Returns deadlines by the chain's clock. */
	const deadlines = (): Order["deadlines"] => {
		const now = BigInt(Math.floor(nowMs() / 1_000));
		return packDeadlines({ openDeadline: now + 300n, fillDeadline: now + 900n, refundAfter: now + 4_000n });
	};
	/** Returns terms for an order that begins and ends on Solana, from USDC to USDT. */
	const within = async (): Promise<Partial<Order>> => ({
		destinationChainId: BigInt(chain.chainId),
		destinationVault: toSolanaWord(deployment.program.vault),
		outputToken: toSolanaWord(mintOf(chain, "USDT")),
		recipient: toSolanaWord((await newSolanaWallet(scene)).address),
	});
	/** Stores the order's swap, which waits for any event. */
	const saveSwap = async (order: Order): Promise<void> => {
		await pool.query(
			`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
			values ($1, $2, $3, 1, 1000, '{"kind":"inventory","amount":"1"}') on conflict do nothing`,
			[fromSwapKey(order.swapKey), hexToBytes(orderId(order)), orderToJson(order)],
		);
		await waitForOrder(pool, order);
	};
	const addressOf = (order: Order) =>
		(isSolana(order.originChainId) ? orderAddress : recordAddress)(
			deployment.program.address,
			orderId(order),
		);

	/** Has a stranger's transaction open a new order of a new wallet. */
	const openByStranger = async ({ symbol = "USDC", inputAmount = 10_000_000n, ...terms }: Terms = {}) => {
		const wallet = await newSolanaWallet(scene, symbol === "SOL" ? [] : [{ symbol, amount: inputAmount }]);
		if (symbol === "SOL") {
			await solana.admin.airdrop({ address: wallet.address, lamports: 2n * inputAmount });
		}
		const order = depositOrder(scene, {
			wallet: toSolanaWord(wallet.address),
			symbol,
			inputAmount,
			deadlines: deadlines(),
			...terms,
		});
		const { address } = deployment.program;
		await saveSwap(order);
		await land(
			await prepareOrder(address, order, stranger),
			await fundOrder(address, order, { wallet, decimals: symbol === "SOL" ? 9 : 6 }),
			await openOrder(address, order),
		);
		return { order, wallet };
	};

	/** Returns the signatures of two attesters over one order. */
	const attest = (kind: "release" | "refund", order: Order): Promise<Hex[]> => {
		const message = attestationMessage(kind === "release" ? "Release" : "Refund", [order]);
		const hash = attestationDigest(message);
		const two = deriveDevnetKeys().attesters.slice(0, 2);
		return Promise.all(two.map((privateKey): Promise<Hex> => sign({ hash, privateKey, to: "hex" })));
	};
	/** Queues a release or a refund for which two attesters have signed. */
	const queueAttested = async (kind: "release" | "refund", order: Order): Promise<SwapUuid> => {
		const work = kind === "release" ? { kind, payload: {} } : { kind, payload: { attested: true } };
		const swapId = await queueWork(pool, order, work, { isJustified: false });
		await pool.query("update jobs set state = 'unattested' where swap_id = $1 and kind = $2", [swapId, kind]);
		await storeAttestation(pool, {
			id: crypto.randomUUID(),
			chainId: chain.chainId,
			kind: kind === "release" ? "Release" : "Refund",
			set: deployment.program.attesterSet,
			signatures: await attest(kind, order),
			orderIds: [orderId(order)],
		});
		return swapId;
	};

	return {
		...scene,
		scene,
		follower,
		follow,
		start,
		stranger,
		feePayerOf,
		nowMs,
		land,
		deadlines,
		within,
		saveSwap,
		openByStranger,
		attest,
		queueAttested,
		/** Runs a lane as if it was poked after the follower has read everything. */
		runLane: async (options: StartOptions & { lane?: number } = {}) => {
			const { lane, ...started } = options;
			await follow();
			await start(started)(lane);
		},
		slots,
		setFaults: solana.admin.setFaults,
		passTime: async (seconds: number) => {
			secondsAhead += seconds;
			await solana.admin.passTime({ seconds });
			await slots(40);
		},
		/** Clears everything that the previous test left, so that nothing waits for it. */
		clear: async () => {
			await solana.admin.setFaults({});
			await owner.query("truncate jobs, waits, lane_transactions, rents, attestations");
			await slots(40);
		},
		/** Erases the signed transactions, as a restore from an earlier backup does. */
		forget: async () => {
			await owner.query("truncate lane_transactions, rents");
			// Deposits on other chains are in block 0, and stay.
			await pool.query("delete from chain_events where block_number > 0");
			await pool.query("update jobs set state = 'queued', relayer = null, nonce = null");
		},
		/** Returns the swaps that were woken since the last call. */
		woken: async () => (await takeDue(pool)).swapIds,
		queuePayout: async (terms: Terms = {}, delivery: Delivery = payout) => {
			const { address: recipient } = await newSolanaWallet(scene);
			const order = payoutOrder(scene, {
				recipient: toSolanaWord(recipient),
				deadlines: deadlines(),
				...terms,
			});
			const swapId = await queueWork(pool, order, { kind: "fill", payload: { delivery } });
			await saveSwap(order);
			return { order, swapId, recipient: fromSolanaWord(order.recipient) };
		},
		queueVoid: async () => {
			const { address } = await newSolanaWallet(scene);
			const order = payoutOrder(scene, { recipient: toSolanaWord(address), deadlines: deadlines() });
			await saveSwap(order);
			return { order, swapId: await queueWork(pool, order, { kind: "void", payload: {} }) };
		},
		/** Queues the settlement of an input that the program holds, for which attesters have signed. */
		queueSettlement: async (kind: "release" | "refund", terms: Terms = {}) => {
			const { order, wallet } = await openByStranger(terms);
			return { order, wallet, swapId: await queueAttested(kind, order) };
		},
		/** Queues the fill, or the refund by the operator, of an input that the program holds for an order within Solana. */
		queueWithin: async (kind: "fill" | "refund") => {
			const { order, wallet } = await openByStranger(await within());
			if (follower === "real") {
				// Otherwise `queueWork` would invent the opening.
				await slots(40);
				await follow();
			}
			const work =
				kind === "fill" ? { kind, payload: { delivery: payout } } : { kind, payload: { attested: false } };
			const swapId = await queueWork(pool, order, work);
			return { order, wallet, swapId, recipient: fromSolanaWord(order.recipient) };
		},
		queueOpen: async ({
			feePayer = 0,
			wallet: given = 0,
			...terms
		}: Omit<Terms, "wallet"> & { feePayer?: number; wallet?: number | KeyPairSigner } = {}) => {
			const wallet = typeof given === "number" ? await devnetWallet(scene, given) : given;
			const order = depositOrder(scene, {
				wallet: toSolanaWord(wallet.address),
				deadlines: deadlines(),
				...terms,
			});
			const op = await signSolanaOp(scene, { order, wallet, feePayer: feePayerOf(feePayer) });
			await saveSwap(order);
			const swapId = await queueWork(pool, order, { kind: "open", payload: { op } });
			return { order, swapId, wallet: wallet.address };
		},
		balance: async (owner: SolanaAddress, symbol = "USDC"): Promise<bigint> => {
			const token = symbol === "SOL" ? solanaNativeToken : mintOf(chain, symbol);
			return (await readSolanaWallet(chain, { wallet: owner, token: toSolanaWord(token) })).balance;
		},
		/** Returns the state that the program has recorded for an order from either side; undefined if it has no account. */
		outcomeOf: async (order: Order): Promise<string | undefined> => {
			const at = { orderIds: [orderId(order)], commitment: "confirmed" } as const;
			if (!isSolana(order.originChainId)) {
				return (await readRecords(chain, at))[0]?.record?.state;
			}
			const [account] = await readOrders(chain, at);
			return account && `${account.state}${account.isPaid ? ", paid" : ""}`;
		},
		/** Returns the number of transactions that changed the order's account. */
		changesOf: async (order: Order) => (await successesOf(scene, await addressOf(order))).length,
		states: async (orders: readonly Order[], kind: JobKind): Promise<string[]> => {
			const jobs = await Promise.all(orders.map(({ swapKey }) => readJob(pool, fromSwapKey(swapKey), kind)));
			return jobs.map(({ state }) => state);
		},
		/** Returns the names of the order's events that the real follower has read, in their order. */
		eventsOf: async (order: Order): Promise<string[]> => {
			const { rows } = await pool.query<{ name: string }>(
				"select name from chain_events where order_id = $1 and block_number > 0 order by block_number, log_index",
				[hexToBytes(orderId(order))],
			);
			return rows.map(({ name }) => name);
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
