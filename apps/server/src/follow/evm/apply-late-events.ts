import { ourContracts, type Wei } from "@geoswap/protocol";
import { type Hash, hexToBytes } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import type { EventInBlock } from "../../chain/evm/read/read-events.ts";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import { settleNonces } from "../../job/journal/lane-transactions.ts";
import { finishJobs } from "../../job/queue-jobs.ts";
import { markDepositsFinal } from "../../money/exposure.ts";
import { bookFinal } from "../../money/ledger/book-final.ts";
import { takeOffUnattributed } from "../../money/ledger/book-unattributed.ts";
import { type Posting, readOpeningNumber } from "../../money/ledger/post.ts";
import { lockHead } from "../../swap/due/chain-head.ts";
import { markOrders } from "../../swap/due/mark-swaps.ts";
import { noteUnknownOrders, takeUpUnknownOrders } from "../../swap/record/unknown-orders.ts";
import { eventColumns } from "./apply-block.ts";
import { readClaimedOrders } from "./read-claimed-orders.ts";

/**
 * Writes events, and our transactions, of blocks that were followed without them, and books them if their blocks are
 * final. Events that are known already are left as they are. Returns the new ones.
 */
export async function applyLateEvents(
	db: Database,
	{
		chain: { chainId, deployment },
		events,
		mined = [],
	}: {
		chain: EvmChain;
		events: readonly EventInBlock[];
		mined?: readonly { hash: Hash; blockNumber: number; gasCost: Wei }[];
	},
): Promise<EventInBlock[]> {
	// The follower of the chain is the only writer of its events, and holds this lock while it writes them.
	const head = await lockHead(db, chainId);
	if (!head) return [];
	const { rows } = await db.query<{ block_number: number; log_index: number }>(
		namedParameters(
			`insert into chain_events (chain_id, block_number, block_hash, log_index, transaction_hash, contract, order_id,
				name, data)
			select $chainId, * from unnest($blockNumbers::bigint[], $blockHashes::bytea[], $logIndexes::int[],
				$transactionHashes::bytea[], $contracts::bytea[], $orderIds::bytea[], $names::text[], $data::jsonb[])
			on conflict do nothing returning block_number, log_index`,
			{
				chainId,
				blockNumbers: events.map((event) => event.blockNumber),
				blockHashes: events.map((event) => hexToBytes(event.blockHash)),
				...eventColumns(events),
			},
		),
	);
	const written = new Set(rows.map((row) => `${row.block_number}:${row.log_index}`));
	const added = events.filter(({ blockNumber, logIndex }) => written.has(`${blockNumber}:${logIndex}`));
	await db.query(
		`update lane_transactions t set state = 'mined', block_number = m.block_number, gas_cost = m.gas_cost
		from unnest($2::bytea[], $3::bigint[], $4::numeric[]) as m (hash, block_number, gas_cost)
		where t.chain_id = $1 and t.hash = m.hash and t.block_number is null`,
		[
			chainId,
			mined.map(({ hash }) => hexToBytes(hash)),
			mined.map(({ blockNumber }) => blockNumber),
			mined.map(({ gasCost }) => gasCost),
		],
	);
	await finishJobs(db, { chainId, events: added });
	await takeUpUnknownOrders(
		db,
		added.flatMap(({ name, orderId }) => (name === "Filled" && orderId ? [orderId] : [])),
	);
	// Waits are locked before exposures, as in a round.
	const claimed = await readClaimedOrders(db, { chainId, events: added });
	await markOrders(db, [...new Set([...added.flatMap(({ orderId }) => orderId ?? []), ...claimed])]);
	await bookLate();
	return added;

	async function bookLate(): Promise<void> {
		const opening = await readOpeningNumber(db, chainId);
		const { vaults } = ourContracts(deployment);
		const assets = deployment.assets.map(({ address }) => address);
		const upToFinal = { chainId, finalizedNumber: head?.finalizedNumber ?? 0 };
		const gas = mined.length > 0 ? await settleNonces(db, upToFinal) : [];
		const late: Posting[] = [];
		const blocks = new Set([...added, ...mined].map(({ blockNumber }) => blockNumber));
		for (const number of [...blocks].sort((one, other) => one - other)) {
			// Later blocks are booked when they become final, and earlier ones are part of the opening balances.
			if (number <= opening || number > upToFinal.finalizedNumber) continue;
			const range = { chainId, after: number - 1, upTo: number };
			await noteUnknownOrders(db, range);
			const spent = gas.filter(({ blockNumber }) => blockNumber === number);
			late.push(...(await bookFinal(db, { ...range, gas: spent, vaults, assets })).booked);
			await markDepositsFinal(db, range);
		}
		await takeOffUnattributed(db, { chainId, late });
	}
}
