import { randomBytes } from "node:crypto";
import { solanaKeyVariables, startTestSolana, type TestSolana } from "@geoswap/devnet";
import {
	newSwapUuid,
	type Order,
	openTransaction,
	orderAddress,
	orderId,
	packDeadlines,
	recordAddress,
	type SolanaAddress,
	solanaChainId,
	toSolanaWord,
	toSwapKey,
} from "@geoswap/protocol";
import {
	createKeyPairSignerFromBytes,
	generateKeyPairSigner,
	type KeyPairSigner,
	signBytes,
} from "@solana/kit";
import { bytesToHex, type Hex, hexToBytes, pad } from "viem";
import { connectSolana, type SolanaChain } from "../../src/chain/solana/connect-solana.ts";
import { readBlockhash, readSlots } from "../../src/chain/solana/read/read-slots.ts";
import { readStatuses } from "../../src/chain/solana/read/read-statuses.ts";
import type { SolanaKeys } from "../../src/chain/solana/send/sign-instructions.ts";
import type { DatabasePool } from "../../src/database/database.ts";
import { advanceSolana } from "../../src/follow/solana/advance-solana.ts";
import { countFailures } from "../../src/job/count-failures.ts";
import { slotHash } from "../../src/swap/due/chain-head.ts";
import type { SignedSolanaOp } from "../../src/swap/facts/swap-record.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { createTestDatabase } from "../service/test-database.ts";
import { solanaKeysOf } from "../signer/solana-keys-of.ts";

export type SolanaScene = {
	solana: TestSolana;
	chain: SolanaChain;
	keys: SolanaKeys;
	pool: DatabasePool;
	/** A pool with all rights, for facts that no worker could write. */
	owner: DatabasePool;
	stop: () => Promise<void>;
};

/** Creates a Solana chain, and a database for the caller alone. */
export async function createSolanaScene(
	options: Parameters<typeof startTestSolana>[0] = {},
): Promise<SolanaScene> {
	const [solana, database] = await Promise.all([startTestSolana(options), createTestDatabase()]);
	const { rpcUrl, deployment, keys } = solana;
	return {
		solana,
		chain: connectSolana({ rpcUrl, deployment }),
		keys: await solanaKeysOf(solanaKeyVariables(keys), deployment),
		pool: database.pool,
		owner: database.owner,
		stop: async () => {
			await Promise.all([solana.stop(), database.drop()]);
		},
	};
}

/** Writes the chain's head as a follower would. */
export async function followSlots({
	pool,
	chain,
}: SolanaScene): Promise<{ slot: number; finalizedSlot: number }> {
	const { finalized, confirmed } = await readSlots(chain);
	await pool.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			finalized_height, booked_number) values ($1, $2, $7, $3, 0, $4, $5, $6, 0)
		on conflict (chain_id) do update set number = $2, timestamp = $3, finalized_number = $4,
			finalized_timestamp = $5, finalized_height = $6`,
		[
			chain.chainId,
			confirmed.slot,
			confirmed.timestamp,
			finalized.slot,
			finalized.timestamp,
			finalized.height,
			hexToBytes(slotHash(confirmed.slot)),
		],
	);
	return { slot: confirmed.slot, finalizedSlot: finalized.slot };
}

/** Writes the state of the lanes' transactions as a follower would, as far as lanes read it. */
export async function followLanes(scene: SolanaScene): Promise<void> {
	const { pool, chain } = scene;
	const head = await followSlots(scene);
	const { rows } = await pool.query<{
		hash: Buffer;
		relayer: Buffer;
		nonce: number;
		jobs: { orderId?: Hex }[];
	}>("select hash, relayer, nonce, jobs from lane_transactions where chain_id = $1 and state <> 'final'", [
		chain.chainId,
	]);
	const statuses = await readStatuses(
		chain,
		rows.map(({ hash }) => bytesToHex(hash)),
	);
	for (const [i, { hash, relayer, nonce }] of rows.entries()) {
		const status = statuses[i];
		if (!status) continue;
		const state = status.slot <= head.finalizedSlot ? "final" : "mined";
		await pool.query(
			"update lane_transactions set state = $3, block_number = $4 where chain_id = $1 and hash = $2",
			[chain.chainId, hash, state, status.slot],
		);
		if (status.isFailed) continue;
		await pool.query(
			"update jobs set state = 'done' where chain_id = $1 and relayer = $2 and nonce = $3 and state = 'sent'",
			[chain.chainId, relayer, nonce],
		);
	}
	await countFailures(pool, { chainId: chain.chainId, headNumber: head.slot });
}

/** Runs the real follower once, which writes everything that it reads. */
export async function followReally({ pool, chain }: SolanaScene): Promise<void> {
	await pool.query("update chain_heads set updated_at = now() - interval '2 seconds'");
	await advanceSolana({
		chain,
		pool,
		engine: { poke: async () => {} },
		relayers: chain.deployment.feePayers.map(toSolanaWord),
		log: createLog({ level: "silent", process: "test" }),
	});
}

/** Writes the rent of an order or a record as a follower would. */
export async function rememberRent(
	{ pool, chain }: SolanaScene,
	{ order, account, closableAt }: { order: Order; account: "order" | "record"; closableAt: Date },
): Promise<Hex> {
	const id = orderId(order);
	const addressOf = account === "order" ? orderAddress : recordAddress;
	const address = toSolanaWord(await addressOf(chain.deployment.program.address, id));
	await pool.query(
		`insert into rents (chain_id, address, order_id, account, lamports, closable_at)
		values ($1, $2, $3, $4, 2561280, $5)`,
		[chain.chainId, hexToBytes(address), hexToBytes(id), account, closableAt],
	);
	return address;
}

export async function newSolanaWallet(
	{ solana, chain }: SolanaScene,
	holds: { symbol: string; amount: bigint }[] = [],
): Promise<KeyPairSigner> {
	const wallet = await generateKeyPairSigner();
	for (const { symbol, amount } of holds) {
		await solana.admin.mintTo({ owner: wallet.address, token: mintOf(chain, symbol), amount });
	}
	return wallet;
}

/** Returns one of the wallets that the devnet funds. */
export async function devnetWallet({ solana }: SolanaScene, index = 0): Promise<KeyPairSigner> {
	const key = solana.keys.wallets[index];
	if (!key) throw new Error(`the devnet has no wallet ${index}`);
	return createKeyPairSignerFromBytes(key);
}

export function mintOf({ deployment }: SolanaChain, symbol: string): SolanaAddress {
	const asset = deployment.assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) throw new Error(`no asset ${symbol}`);
	return asset.address;
}

const evmChainId = 8_453n;

/** Returns a currently valid order, from an EVM chain to Solana by default. */
export function payoutOrder(
	{ chain }: SolanaScene,
	{ recipient, symbol = "USDC", ...given }: Partial<Order> & { recipient: Hex; symbol?: string },
): Order {
	const { deployment } = chain;
	return {
		originChainId: evmChainId,
		destinationChainId: BigInt(solanaChainId),
		escrow: pad("0xe5c0", { size: 32 }),
		originVault: pad("0x7a17", { size: 32 }),
		destinationVault: toSolanaWord(deployment.program.vault),
		attesterSet: pad("0xa7", { size: 32 }),
		inputToken: pad("0x70", { size: 32 }),
		inputAmount: 10_000_000n,
		outputToken: toSolanaWord(mintOf(chain, symbol)),
		minOutput: 9_900_000n,
		recipient,
		...common(),
		...given,
		wallet: given.wallet ?? pad("0x3a11e7", { size: 32 }),
	};
}

/** Returns an order from Solana to an EVM chain by default. */
export function depositOrder(
	{ chain }: SolanaScene,
	{ wallet, symbol = "USDC", ...given }: Partial<Order> & { wallet: Hex; symbol?: string },
): Order {
	const { deployment } = chain;
	return {
		originChainId: BigInt(solanaChainId),
		destinationChainId: evmChainId,
		escrow: toSolanaWord(deployment.program.address),
		originVault: toSolanaWord(deployment.program.vault),
		destinationVault: pad("0x7a17", { size: 32 }),
		attesterSet: deployment.program.attesterSet.hash,
		inputToken: toSolanaWord(mintOf(chain, symbol)),
		inputAmount: 10_000_000n,
		outputToken: pad("0x70", { size: 32 }),
		minOutput: 9_900_000n,
		recipient: pad("0x3a11e7", { size: 32 }),
		wallet,
		...common(),
		...given,
	};
}

function common(): Pick<Order, "topUp" | "swapKey" | "deadlines"> {
	const openDeadline = BigInt(Math.floor(Date.now() / 1_000)) + 600n;
	const fillDeadline = openDeadline + 600n;
	return {
		topUp: 0n,
		swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })),
		deadlines: packDeadlines({ openDeadline, fillDeadline, refundAfter: fillDeadline + 600n }),
	};
}

/** Signs the message that opens an order, as its wallet does. */
export async function signSolanaOp(
	{ chain }: SolanaScene,
	{ order, wallet, feePayer }: { order: Order; wallet: KeyPairSigner; feePayer: SolanaAddress },
): Promise<SignedSolanaOp> {
	const { blockhash, lastValidBlockHeight } = await readBlockhash(chain);
	const parts = { feePayer, blockhash, compute: { unitLimit: 80_000, microLamportsPerUnit: 50_000n } };
	const { message } = await openTransaction(chain.deployment, order, parts);
	const signature = bytesToHex(new Uint8Array(await signBytes(wallet.keyPair.privateKey, message)));
	return { kind: "solana", ...parts, lastValidBlockHeight, signature };
}

/** Returns every landed transaction that succeeded and contains this address, newest first. */
export async function successesOf({ chain }: SolanaScene, address: SolanaAddress): Promise<string[]> {
	const found = await chain.rpc.getSignaturesForAddress(address, { commitment: "confirmed" }).send();
	return found.filter(({ err }) => err === null).map(({ signature }) => signature);
}
