import { type Milliseconds, type Order, orderSchema, type SwapUuid } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { DepositSight, ToldDeposit } from "../../chain/deposit-sight.ts";
import { isFarEnough, type NeededDepth } from "../../chain/request-two-hosts.ts";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { Row } from "../../database/rows.ts";
import type { DepositToSee } from "../../swap/decide/decision.ts";
import { markSwaps } from "../../swap/due/mark-swaps.ts";
import type { CrossCheck, DepositPlace, SecondAnswer, SecondWord } from "../../swap/facts/facts.ts";
import type { Log } from "../../telemetry/log.ts";
import type { SwapMetrics } from "../../telemetry/swap-metrics.ts";

/** Reads a deposit from two providers of a chain. Throws if no two answer. */
export type SecondProviders = (
	chainId: number,
	deposit: ToldDeposit,
	needed: NeededDepth,
) => Promise<DepositSight>;

export type CrossChecksOptions = {
	pool: DatabasePool;
	/** Absent if no chain has one. */
	secondProviders?: SecondProviders | undefined;
	/** Called once answers are stored, when a round has something to do. */
	pokeRound: () => Promise<void>;
	metrics?: SwapMetrics | undefined;
	nowMs: () => Milliseconds;
	log: Log;
};

/** The maximum time for which two honest nodes can be on two forks. */
const forkMs = 30_000;
/** Number of concurrent questions. A call to a node takes up to some seconds, and few deposits need one. */
const atOnce = 20;

/**
 * Key: the chain's id. Queries the chain's second provider for the deposits that it must confirm, and stores its
 * answers, which marks the swaps. Two concurrent runs would only query twice. Does not throw if the provider does not
 * answer. That is stored as an answer too, and the swap requests it again.
 */
export function createCrossChecks(options: CrossChecksOptions): (key: string) => Promise<void> {
	const { pool, pokeRound, nowMs } = options;
	return async (key) => {
		while (true) {
			const questions = await readQuestions<DepositToSee>(pool, { chainId: Number(key), limit: atOnce });
			if (questions.length === 0) return;
			await Promise.all(
				questions.map(async (question) => {
					const { word, crossCheck, ...told } = await ask(options, question);
					const answer = tell(options, { question, word, nowMs: nowMs(), ...told });
					await answerQuestion(pool, { question, answer, crossCheck });
				}),
			);
			await pokeRound();
			if (questions.length < atOnce) return;
		}
	};
}

type Answer = {
	word: SecondWord;
	crossCheck?: Pick<DepositSight & { verdict: "agrees" }, "headNumber" | "finalizedNumber">;
	err?: unknown;
	how?: unknown;
};

async function ask(
	{ secondProviders }: CrossChecksOptions,
	{ orderId, readOrder, deposit }: Question<DepositToSee>,
): Promise<Answer> {
	const { chainId, finalizedNumber, headNumber, ...place } = deposit;
	const needed = { finalizedNumber, ...(headNumber === undefined ? {} : { headNumber }) };
	let sight: DepositSight;
	try {
		if (!secondProviders) throw new Error("none is connected");
		sight = await secondProviders(chainId, { orderId, order: readOrder(), ...place }, needed);
	} catch (err) {
		return { word: "silent", err };
	}
	if (sight.verdict === "behind") return { word: "behind" };
	if (sight.verdict === "differs") return { word: "differs", how: sight.how };
	if (!isFarEnough(sight, needed)) return { word: "behind" };
	return { word: "agrees", crossCheck: sight };
}

/**
 * Logs each answer once, regardless of how often it is given, because a node that is down is down for many swaps, for a
 * while.
 */
function tell(
	{ metrics, log }: CrossChecksOptions,
	{
		question: { swapId, orderId, deposit, before },
		word,
		nowMs,
		...more
	}: {
		question: Question<DepositToSee>;
		word: SecondWord;
		nowMs: Milliseconds;
		err?: unknown;
		how?: unknown;
	},
): SecondAnswer {
	const { chainId, blockNumber, blockHash, transactionHash } = deposit;
	metrics?.secondAsked(chainId, word);
	const same = before?.word === word ? before : undefined;
	const sinceMs = same?.sinceMs ?? nowMs;
	const isAlarmed = word === "differs" && nowMs - sinceMs >= forkMs;
	const about = { swapId, chainId, orderId, blockNumber, blockHash, transactionHash, ...more };
	if (isAlarmed && !same?.isAlarmed) log.error(about, told[word]);
	else if (!same) log[word === "agrees" ? "info" : "warn"](about, told[word]);
	return { word, sinceMs, isAlarmed };
}

const told: Record<SecondWord, string> = {
	agrees: "the second provider has the deposit too",
	behind: "the second provider does not report the deposit as deep yet",
	differs:
		"the providers disagree about a deposit, so nothing is delivered for it. One of them is wrong or on a fork",
	silent: "the second provider does not answer",
};

/** A deposit that a chain's second provider is to be queried for. */
type Question<Deposit extends DepositPlace = DepositPlace> = {
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
async function readQuestions<Deposit extends DepositPlace>(
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
async function answerQuestion(
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
		namedParameters(
			`insert into cross_checks as known
				(chain_id, order_id, block_number, block_hash, transaction_hash, head_number, finalized_number)
			values ($chainId, $orderId, $blockNumber, $blockHash, $transactionHash, $headNumber, $finalizedNumber)
			on conflict (order_id, chain_id, block_number, block_hash, transaction_hash) do update set
				head_number = greatest(known.head_number, excluded.head_number),
				finalized_number = greatest(known.finalized_number, excluded.finalized_number)`,
			{
				chainId,
				orderId: hexToBytes(orderId),
				blockNumber,
				blockHash: hexToBytes(blockHash),
				transactionHash: hexToBytes(transactionHash),
				headNumber,
				finalizedNumber,
			},
		),
	);
}
