import { type Order, orderSchema, type SwapUuid } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import { markSwaps } from "../../swap/due/mark-swaps.ts";
import type { CrossCheck, DepositPlace, SecondAnswer } from "../../swap/facts/facts.ts";

/** A deposit that a chain's second provider is to be queried for. */
export type Question<Deposit extends DepositPlace = DepositPlace> = {
	swapId: SwapUuid;
	orderId: Hex;
	/** Throws if the order cannot be read, which concerns no other question. */
	readOrder: () => Order;
	deposit: Deposit;
	/** The provider's previous answer. */
	before: SecondAnswer | undefined;
};

type QuestionRow = Row<"waits", "swap_id" | "order_id" | `second_${"word" | "since" | "alarmed"}`>;

/** Returns the questions to a chain's second provider that have no answer yet. */
export async function readQuestions<Deposit extends DepositPlace>(
	db: Database,
	{ chainId, limit }: { chainId: number; limit: number },
): Promise<Question<Deposit>[]> {
	const { rows } = await db.query<QuestionRow & { ask: Deposit }>(
		`select swap_id, order_id, ask, second_word, second_since, second_alarmed from waits
		where ask_chain_id = $1 order by second_at nulls first limit $2`,
		[chainId, limit],
	);
	const { rows: swaps } = await db.query<Row<"swaps", "id" | "order_terms">>(
		"select id, order_terms from swaps where id = any($1::uuid[])",
		[rows.map((row) => row.swap_id)],
	);
	const terms = new Map(swaps.map((swap) => [swap.id, swap.order_terms]));
	return rows.flatMap(({ swap_id, order_id, ask, second_word: word, second_since: since, second_alarmed }) =>
		terms.has(swap_id)
			? {
					swapId: swap_id,
					orderId: bytesToHex(order_id),
					readOrder: () => orderSchema.parse(terms.get(swap_id)),
					deposit: ask,
					before: word && since ? { word, sinceMs: since.getTime(), isAlarmed: second_alarmed } : undefined,
				}
			: [],
	);
}

/** Stores an answer and marks the swap. An answer to a question that the swap no longer has is discarded. */
export async function answerQuestion(
	pool: DatabasePool,
	{
		question: { swapId, orderId, deposit },
		answer: { word, sinceMs, isAlarmed },
		crossCheck,
	}: {
		question: Question;
		answer: SecondAnswer;
		/** The provider's head and final block, if it has the deposit. */
		crossCheck: CrossCheck | undefined;
	},
): Promise<void> {
	const { chainId, blockNumber, blockHash, transactionHash } = deposit;
	await inTransaction(pool, async (db) => {
		if (crossCheck) {
			await saveCrossCheck(db, { chainId, orderId, blockNumber, blockHash, transactionHash, ...crossCheck });
		}
		await db.query(
			`update waits set ask_chain_id = null, second_word = $3, second_at = now(), second_since = $4, second_alarmed = $5
			where swap_id = $1 and ask_chain_id is not null and ask = $2`,
			[swapId, JSON.stringify(deposit), word, new Date(sinceMs), isAlarmed],
		);
		await markSwaps(db, [swapId]);
	});
}

/** Stores that a second provider has the deposit too, in this block. At a later query, the provider is further. */
async function saveCrossCheck(
	db: Database,
	{
		chainId,
		orderId,
		blockNumber,
		blockHash,
		transactionHash,
		headNumber,
		finalizedNumber,
	}: CrossCheck & {
		chainId: number;
		orderId: Hex;
		blockNumber: number;
		blockHash: Hex;
		transactionHash: Hex;
	},
): Promise<void> {
	await db.query(
		`insert into cross_checks as known
			(chain_id, order_id, block_number, block_hash, transaction_hash, head_number, finalized_number)
		values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (order_id, chain_id, block_number, block_hash, transaction_hash) do update set
			head_number = greatest(known.head_number, excluded.head_number),
			finalized_number = greatest(known.finalized_number, excluded.finalized_number)`,
		[
			chainId,
			hexToBytes(orderId),
			blockNumber,
			hexToBytes(blockHash),
			hexToBytes(transactionHash),
			headNumber,
			finalizedNumber,
		],
	);
}
