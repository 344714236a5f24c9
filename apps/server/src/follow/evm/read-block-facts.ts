import { moneyEventTopics, type SubjectsOf, type Wei } from "@geoswap/protocol";
import { BaseError, bytesToHex, type Hash, type Hex, hexToBytes, pad, RpcRequestError } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { isTooLarge } from "../../chain/evm/evm-node-pool.ts";
import type { ContractEvent } from "../../chain/evm/read/decode-events.ts";
import { readReceipts } from "../../chain/evm/read/read-block.ts";
import { readEvents } from "../../chain/evm/read/read-events.ts";
import type { Database, DatabasePool } from "../../database/database.ts";
import type { Log } from "../../telemetry/log.ts";

/** The events of a block, and our own transactions in it. */
export type BlockFacts = {
	events: ContractEvent[];
	mined: { hash: Hash; gasCost: Wei }[];
	/** The first error, if not everything could be read. */
	error?: unknown;
	/** False if events of orders that have no undecided swap may be missing. */
	isComplete: boolean;
};

/**
 * Reads the events of our contracts in a block, and the receipts of our own transactions in it. Each is read
 * separately, so that a block whose logs no node returns still shows what our transactions did. A delivery must be
 * found, and its input released, regardless of what a stranger put into the same block.
 *
 * Logs are requested in parts if the node refuses them. An outage of a node is no refusal, and ends sooner or later, so
 * they are then requested in parts only if it lasts.
 */
export async function readBlockFacts({
	chain,
	pool,
	block: { number, hash: blockHash, transactionHashes },
	isLasting,
	log,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	block: { number: number; hash: Hash; transactionHashes: readonly Hash[] };
	/** True if requests for this block have failed for a while. */
	isLasting: boolean;
	log: Log;
}): Promise<BlockFacts> {
	const { chainId } = chain;
	const hashes = await laneHashesAmong(pool, { chainId, hashes: transactionHashes });
	const [logs, { receipts, errors }] = await Promise.all([
		readEvents(chain, {
			blockHash,
			subjectsOf: knownSubjects(pool, chainId),
			isSplit: (error) => isLasting || isRefusal(error),
		}).then(
			(read) => ({ ...read, errors: [] }),
			(error: unknown) => ({ events: [], isComplete: false, errors: [error] }),
		),
		readReceipts(chain, { blockHash, hashes }),
	]);
	const [error] = [...logs.errors, ...errors];
	const own = missingFrom(
		logs.events,
		receipts.flatMap(({ events }) => events),
	);
	const leftOut = logs.errors.length > 0 ? [] : own.filter(({ name }) => name !== "Skipped");
	if (leftOut.length > 0) {
		const told = leftOut.map(({ name, orderId, transactionHash }) => ({ name, orderId, transactionHash }));
		log.error({ chainId, blockNumber: number, events: told }, "a node left events out of a block's logs");
	}
	return {
		events: [...logs.events, ...own],
		mined: receipts.map(({ hash, gasCost }) => ({ hash, gasCost })),
		...(error !== undefined && { error }),
		isComplete: logs.isComplete,
	};
}

/** Returns whether the node has answered, and will answer the same again. */
export function isRefusal(error: unknown): boolean {
	if (isTooLarge(error)) return true;
	return error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError) !== null;
}

/**
 * Returns the events that the receipts of our transactions have and the logs lack: those that a node left out, and
 * `Skipped`, which is read from our own transactions only.
 */
function missingFrom(logs: readonly ContractEvent[], receipts: readonly ContractEvent[]): ContractEvent[] {
	const seen = new Set(logs.map(({ logIndex }) => logIndex));
	return receipts.filter(({ logIndex }) => !seen.has(logIndex));
}

/** Returns an error's message without the request that caused it, since a filter can list a thousand orders. */
export function shortReason(error: unknown): string {
	if (error instanceof BaseError) return `${error.shortMessage} ${error.details ?? ""}`.trim().slice(0, 300);
	return String(error instanceof Error ? error.message : error).slice(0, 300);
}

/**
 * Returns the subjects of events that matter to swaps which have not ended: their orders, and the wallets that are owed
 * a credit. Only the operator can withdraw from a vault, so all withdrawals are read.
 */
function knownSubjects(db: Database, chainId: number): SubjectsOf {
	const { Claimed, Withdrawn } = moneyEventTopics();
	return async (topic) => {
		if (topic === Withdrawn) return undefined;
		return topic === Claimed ? readCreditors(db, chainId) : readUndecidedOrders(db);
	};
}

async function readUndecidedOrders(db: Database): Promise<Hex[]> {
	const { rows } = await db.query<{ order_id: Buffer }>("select order_id from waits order by swap_id");
	return rows.map((row) => bytesToHex(row.order_id));
}

async function readCreditors(db: Database, chainId: number): Promise<Hex[]> {
	const { rows } = await db.query<{ beneficiary: Hex }>(
		`select distinct e.data->>'beneficiary' as beneficiary from chain_events e join waits using (order_id)
		where e.chain_id = $1 and e.name = 'Credited'`,
		[chainId],
	);
	return rows.map((row) => pad(row.beneficiary));
}

/** Returns the hashes that are transactions of our lanes. */
async function laneHashesAmong(
	db: Database,
	{ chainId, hashes }: { chainId: number; hashes: readonly Hash[] },
): Promise<Hash[]> {
	if (hashes.length === 0) return [];
	const { rows } = await db.query<{ hash: Buffer }>(
		"select hash from lane_transactions where chain_id = $1 and hash = any($2)",
		[chainId, hashes.map((hash) => hexToBytes(hash))],
	);
	return rows.map((row) => bytesToHex(row.hash));
}
