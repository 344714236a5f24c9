import { randomBytes } from "node:crypto";
import { devTokenAbi, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	fromSwapKey,
	newSwapUuid,
	type Order,
	orderDigest,
	orderId,
	packDeadlines,
	type SwapUuid,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import {
	type Address,
	createWalletClient,
	encodeFunctionData,
	type Hex,
	hexToBytes,
	http,
	type LocalAccount,
	parseEther,
} from "viem";
import {
	generatePrivateKey,
	type PrivateKeyAccount,
	privateKeyToAccount,
	privateKeyToAddress,
} from "viem/accounts";
import { connectChain, type EvmChain } from "../../src/chain/evm/connect-chain.ts";
import type { DatabasePool } from "../../src/database/database.ts";
import { type JobRow, jobFromRow, type NewJob } from "../../src/job/jobs.ts";
import type { Job } from "../../src/swap/facts/job.ts";
import type { Delivery, SignedOp, SignedSolanaOp } from "../../src/swap/facts/swap-record.ts";
import { createTestDatabase } from "../service/test-database.ts";
import { justifyPayment } from "./payment-facts.ts";
import { queueJob } from "./queue-job.ts";

export type LaneScene = {
	chains: TestChains;
	pool: DatabasePool;
	/** A pool with all rights, for facts that no worker could write. */
	owner: DatabasePool;
	origin: EvmChain;
	destination: EvmChain;
	relayers: PrivateKeyAccount[];
	stop: () => Promise<void>;
};

/**
 * Creates two chains, and a database for the caller alone. The chains mine each transaction immediately, or make a
 * block every `blockMs`.
 */
export async function createLaneScene({ blockMs }: { blockMs?: number } = {}): Promise<LaneScene> {
	const rhythm = blockMs === undefined ? { automine: true } : { automine: false, blockMs };
	const [chains, database] = await Promise.all([startTestChains(rhythm), createTestDatabase()]);
	const connect = ({ chainId, rpcUrl, deployment }: TestChain) =>
		connectChain({ chainId, rpcUrl, deployment });
	return {
		chains,
		pool: database.pool,
		owner: database.owner,
		origin: connect(chains.origin),
		destination: connect(chains.destination),
		relayers: chains.keys.relayers.map((key) => privateKeyToAccount(key)),
		stop: async () => {
			await Promise.all([chains.stop(), database.drop()]);
		},
	};
}

/** Writes the chain's head as a follower would. `blocksAhead` pretends that it is further. */
export async function followHead(
	pool: DatabasePool,
	{ chainId, client }: EvmChain,
	{ blocksAhead = 0 }: { blocksAhead?: number } = {},
): Promise<number> {
	const [block, finalized] = await Promise.all([
		client.getBlock(),
		client.getBlock({ blockTag: "finalized" }),
	]);
	const number = Number(block.number) + blocksAhead;
	await pool.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			booked_number) values ($1, $2, $3, $4, $5, $6, $7, 0)
		on conflict (chain_id) do update set number = $2, hash = $3, timestamp = $4, base_fee = $5,
			finalized_number = $6, finalized_timestamp = $7`,
		[
			chainId,
			number,
			hexToBytes(block.hash),
			block.timestamp,
			block.baseFeePerGas ?? 0n,
			finalized.number,
			finalized.timestamp,
		],
	);
	return number;
}

/** Creates a wallet with 100 USDC on the origin chain and no native coins. */
export async function newWallet({ chains }: Pick<LaneScene, "chains">): Promise<PrivateKeyAccount> {
	const wallet = privateKeyToAccount(generatePrivateKey());
	const data = encodeFunctionData({
		abi: devTokenAbi,
		functionName: "mint",
		args: [wallet.address, 100_000_000n],
	});
	await sendAsAnyone(chains.origin, { to: assetOf(chains.origin, "USDC"), data });
	return wallet;
}

/** Sends a transaction without waiting, because the chain mines it immediately. */
export async function sendAsAnyone(
	chain: TestChain,
	transaction: { to: Address; data?: Hex },
	account: LocalAccount = privateKeyToAccount(generatePrivateKey()),
): Promise<void> {
	await chain.testClient.setBalance({ address: account.address, value: parseEther("10") });
	const client = createWalletClient({ account, chain: chain.chain, transport: http(chain.rpcUrl) });
	await client.sendTransaction({ ...transaction, gas: 8_000_000n });
}

/** Returns a currently valid order, from one chain to the other unless `terms` contain other chains. */
export async function newOrder(
	{ chains: { origin, destination } }: Pick<LaneScene, "chains">,
	terms: Partial<Order> & {
		wallet: Hex;
		openSeconds?: bigint;
		fillSeconds?: bigint;
	},
): Promise<Order> {
	const { openSeconds = 60n, fillSeconds = 60n, ...given } = terms;
	const { timestamp: now } = await origin.publicClient.getBlock();
	const openDeadline = now + openSeconds;
	const fillDeadline = openDeadline + fillSeconds;
	return {
		originChainId: BigInt(origin.chainId),
		destinationChainId: BigInt(destination.chainId),
		escrow: toWord(origin.deployment.contracts.escrow),
		originVault: toWord(origin.deployment.contracts.vault),
		destinationVault: toWord(destination.deployment.contracts.vault),
		attesterSet: origin.deployment.attesterSet.hash,
		inputToken: toWord(assetOf(origin, "USDC")),
		inputAmount: 10_000_000n,
		outputToken: toWord(assetOf(destination, "USDC")),
		minOutput: 9_900_000n,
		recipient: given.wallet,
		topUp: 0n,
		swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })),
		deadlines: packDeadlines({ openDeadline, fillDeadline, refundAfter: fillDeadline + 60n }),
		...given,
	};
}

/** Queues the delivery of a new order from inventory, for a new wallet. */
export async function queueFill(
	scene: Pick<LaneScene, "chains" | "pool">,
	{ amount, ...terms }: { amount: bigint } & Omit<Parameters<typeof newOrder>[1], "wallet">,
): Promise<{ order: Order; swapId: SwapUuid }> {
	const wallet = toWord(privateKeyToAddress(generatePrivateKey()));
	const order = await newOrder(scene, { wallet, ...terms });
	const delivery = { kind: "inventory", amount } as const;
	return { order, swapId: await queueWork(scene.pool, order, { kind: "fill", payload: { delivery } }) };
}

export function assetOf(chain: TestChain, symbol: string): Address {
	const asset = chain.deployment.assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) throw new Error(`no asset ${symbol} on chain ${chain.chainId}`);
	return asset.address;
}

export async function signOp(
	{ chains: { origin } }: Pick<LaneScene, "chains">,
	{ order, wallet, authorize }: { order: Order; wallet: PrivateKeyAccount; authorize: boolean },
): Promise<SignedOp> {
	const op = {
		delegate: origin.deployment.contracts.delegate,
		gas: 250_000n,
		signatureKind: "personal",
	} as const;
	const signature = await wallet.signMessage({ message: { raw: orderDigest(order) } });
	if (!authorize) return { ...op, signature };
	const { chainId } = origin;
	const { r, s, yParity } = await wallet.signAuthorization({ address: op.delegate, chainId, nonce: 0 });
	const authorization = { chainId, address: op.delegate, nonce: 0, yParity: yParity ?? 0, r, s };
	return { ...op, signature, authorization };
}

type Work =
	| { kind: "open"; payload: { op: SignedOp | SignedSolanaOp } }
	| { kind: "fill"; payload: { delivery: Delivery } }
	| { kind: "void"; payload: Record<never, never> }
	| { kind: "release"; payload: Record<never, never> }
	| { kind: "refund"; payload: { attested: boolean } };

/**
 * Queues work for an order, on the chain where it belongs. If it is a payment, first writes the facts that justify it.
 * Returns the swap's ID.
 */
export async function queueWork(
	pool: DatabasePool,
	order: Order,
	work: Work,
	{ spends, isJustified = true }: { spends?: Address; isJustified?: boolean } = {},
): Promise<SwapUuid> {
	const isOnDestination = work.kind === "fill" || work.kind === "void";
	const swapId = fromSwapKey(order.swapKey);
	if (isJustified && (work.kind === "fill" || work.kind === "refund")) {
		const delivery: Delivery =
			work.kind === "fill" ? work.payload.delivery : { kind: "inventory", amount: order.minOutput };
		await justifyPayment(pool, order, { delivery, spends });
	}
	await queueJob(pool, {
		...work,
		swapId,
		chainId: Number(isOnDestination ? order.destinationChainId : order.originChainId),
		orderId: orderId(order),
		order,
		state: "queued",
	} as NewJob);
	return swapId;
}

/** Reads a job, with the nonce of its transaction. */
export async function readJob(
	pool: DatabasePool,
	swapId: string,
	kind: Job["kind"],
): Promise<Job & { nonce: number | undefined }> {
	const { rows } = await pool.query<JobRow & { nonce: number | null }>(
		"select * from jobs where swap_id = $1 and kind = $2",
		[swapId, kind],
	);
	if (!rows[0]) throw new Error(`swap ${swapId} has no job ${kind}`);
	return { ...jobFromRow(rows[0]), nonce: rows[0].nonce ?? undefined };
}
