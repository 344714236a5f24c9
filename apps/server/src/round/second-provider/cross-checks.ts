import type { Milliseconds } from "@geoswap/protocol";
import type { DepositSight, ToldDeposit } from "../../chain/deposit-sight.ts";
import { isFarEnough, type NeededDepth } from "../../chain/request-two-hosts.ts";
import type { DatabasePool } from "../../database/database.ts";
import type { DepositToSee } from "../../swap/decide/decision.ts";
import type { SecondAnswer, SecondWord } from "../../swap/facts/facts.ts";
import type { Log } from "../../telemetry/log.ts";
import type { SwapMetrics } from "../../telemetry/swap-metrics.ts";
import { answerQuestion, type Question, readQuestions } from "./deposit-questions.ts";

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
