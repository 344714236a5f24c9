import { type Hex, toEventSelector } from "viem";
import { geoEscrowAbi } from "../abi/geo-escrow-abi.ts";
import { geoVaultAbi } from "../abi/geo-vault-abi.ts";

/** Events of an escrow that move money or decide an order. Gas bounds their number in a block, unlike `Skipped`. */
const escrowEvents = ["Opened", "Released", "Refunded", "Credited", "Claimed"] as const;
/** Events of a vault that move money or decide an order. Only the operator's keys can cause them. */
const vaultEvents = ["Filled", "ToppedUp", "Voided", "Withdrawn", "Traded", "Sent", "Bridged"] as const;
export type MoneyEventName = (typeof escrowEvents)[number] | (typeof vaultEvents)[number];

/** Returns the first topic of each of these events, by the event's name. */
export function moneyEventTopics(): Record<MoneyEventName, Hex> {
	return Object.fromEntries([
		...escrowEvents.map((name) => [name, topicOf(geoEscrowAbi, name)]),
		...vaultEvents.map((name) => [name, topicOf(geoVaultAbi, name)]),
	]) as Record<MoneyEventName, Hex>;
}

function topicOf(abi: typeof geoEscrowAbi | typeof geoVaultAbi, name: MoneyEventName): Hex {
	const event = abi.find((item) => item.type === "event" && item.name === name);
	if (event?.type !== "event") throw new Error(`the ABI has no event ${name}`);
	return toEventSelector(event);
}

/** The logs that one request selects. */
export type LogPart = {
	fromBlock: number;
	toBlock: number;
	/** First topics of the requested events. */
	topics: readonly Hex[];
	/** Values of the first indexed field, such as order ids. Undefined selects logs with any value. */
	subjects?: readonly Hex[];
};

/** Most nodes refuse a filter with more than 1,000 values. */
const subjectsAtOnce = 500;

/** Returns the subjects to read if a block has too many logs of an event; undefined if all are needed. */
export type SubjectsOf = (topic: Hex) => Promise<readonly Hex[] | undefined>;

/**
 * Reads logs, and requests less at a time if the node fails to return them. It first halves the blocks, then the
 * events, then requests only the subjects that the caller names, and then half of these. Anyone can put more logs into
 * a block than a node or the HTTP client returns, so a failed request must never be repeated unchanged for ever.
 *
 * Requests go out one after the other, because a node that fails may be overloaded. If a request for one subject in one
 * block fails too, throws the node's error. Logs are in no particular order.
 */
export async function readLogs<Log>(
	part: LogPart,
	{
		read,
		subjectsOf = async () => undefined,
		isSplit = () => true,
	}: {
		read: (part: LogPart) => Promise<readonly Log[]>;
		subjectsOf?: SubjectsOf;
		/** Returns true if smaller requests are to follow this error. By default they follow every error. */
		isSplit?: (error: unknown) => boolean;
	},
): Promise<{
	logs: Log[];
	/** False if logs of other subjects than the known ones may be missing. */
	isComplete: boolean;
}> {
	try {
		return { logs: [...(await read(part))], isComplete: true };
	} catch (error) {
		const smaller = isSplit(error) ? await split(part, subjectsOf) : undefined;
		if (!smaller) throw error;
		const results = [];
		for (const one of smaller.parts) results.push(await readLogs(one, { read, subjectsOf, isSplit }));
		return {
			logs: results.flatMap(({ logs }) => logs),
			isComplete: smaller.isComplete && results.every((result) => result.isComplete),
		};
	}
}

async function split(
	part: LogPart,
	subjectsOf: SubjectsOf,
): Promise<{ parts: LogPart[]; isComplete: boolean } | undefined> {
	const { fromBlock, toBlock, topics, subjects } = part;
	if (fromBlock < toBlock) {
		const middle = Math.floor((fromBlock + toBlock) / 2);
		const parts = [
			{ ...part, toBlock: middle },
			{ ...part, fromBlock: middle + 1 },
		];
		return { parts, isComplete: true };
	}
	if (topics.length > 1) {
		return { parts: halves(topics).map((some) => ({ ...part, topics: some })), isComplete: true };
	}
	if (subjects) {
		if (subjects.length < 2) return undefined;
		return { parts: halves(subjects).map((some) => ({ ...part, subjects: some })), isComplete: true };
	}
	const [topic] = topics;
	const known = topic && (await subjectsOf(topic));
	if (!known) return undefined;
	const parts = [];
	for (let i = 0; i < known.length; i += subjectsAtOnce) {
		parts.push({ ...part, subjects: known.slice(i, i + subjectsAtOnce) });
	}
	return { parts, isComplete: false };
}

function halves<T>(list: readonly T[]): [T[], T[]] {
	const middle = Math.ceil(list.length / 2);
	return [list.slice(0, middle), list.slice(middle)];
}
