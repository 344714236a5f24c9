import {
	type Amount,
	geoEscrowAbi,
	geoVaultAbi,
	type LogPart,
	moneyEventTopics,
	type Order,
	readLogs,
	toWord,
} from "@geoswap/protocol";
import {
	type Address,
	formatLog,
	getAbiItem,
	type Hex,
	type Log,
	numberToHex,
	parseEventLogs,
	type RpcLog,
} from "viem";
import type { AuditedChain } from "./audited-chain.ts";
import { addFlows, type ChainFlows, noFlows, scheduleTopics } from "./chain-flows.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { createStrangerOrders, type StrangerOrders } from "./stranger-orders.ts";

/**
 * The events by which orders are checked. They are those of orders that are in the books, that the service's keys acted
 * on, or that the service's attesters decided. Every event has its chain and its block.
 */
export type ChainEvents = {
	opened: At<{ orderId: Hex; order: Order }>[];
	released: At<{ orderId: Hex; paid: boolean }>[];
	refunded: At<{ orderId: Hex; paid: boolean }>[];
	/** The last claim of each beneficiary that owns a swap, by `claimKey`. */
	claimed: Map<string, At<object>>;
	filled: At<{
		orderId: Hex;
		delivered: bigint;
		/** Undefined on Solana, where each transaction of a fee payer is compared with the books. */
		transaction?: Hex;
	}>[];
	voided: At<{ orderId: Hex }>[];
};
type At<T> = T & { chainId: number; block: number };

/** Everything that was read of a chain. */
export type ChainReading = {
	/** The last block that was read. */
	upTo: number;
	events: ChainEvents;
	/** Open orders that the service has nothing to do with. */
	strangers: StrangerOrders;
	/** Credits that are not claimed, by holding key. */
	credits: Map<string, bigint>;
	/** The number of blocks whose logs the node listed for known orders only. */
	unlistedBlocks: number;
	flows: ChainFlows;
};

/** Distinguishes orders of the service from those of strangers. */
export type Acquaintance = {
	/** Returns true if the books have a swap with this order. */
	isSwap: (orderId: Hex) => boolean;
	/** The ids of these orders that begin on the chain, and the words of their wallets. */
	orderIds: readonly Hex[];
	wallets: ReadonlySet<Hex>;
	/** Returns the first second in which the order may be refunded without a void, or 0 if it is not checked. */
	refundableAt: (order: Order) => number;
};

type Reader = {
	reading: ChainReading;
	/** The orders that have events here. Kept up to date. */
	judged: Set<Hex>;
	acquaintance: Acquaintance;
};

/** The maximum number of blocks for which most nodes return logs in one request. */
const maxBlocks = 5_000;
const topics = moneyEventTopics();
const readTopics = [
	...[topics.Opened, topics.Released, topics.Refunded, topics.Credited, topics.Claimed],
	...[topics.Filled, topics.Voided, topics.Withdrawn, topics.Traded, topics.Sent, topics.Bridged],
	...scheduleTopics,
];
/** Only the service's keys can cause these, so a block has few of them. */
const ownTopics = new Set(readTopics.slice(5));

export function noEvents(): ChainEvents {
	return { opened: [], released: [], refunded: [], claimed: new Map(), filled: [], voided: [] };
}

/** Returns the reading of a chain before anything was read. */
export function startReading({ deployment }: AuditedChain): ChainReading {
	return {
		upTo: deployment.deployedAtBlock - 1,
		events: noEvents(),
		strangers: createStrangerOrders(),
		credits: new Map(),
		unlistedBlocks: 0,
		flows: noFlows(),
	};
}

/**
 * Reads the events of the service's contracts that came after those in `reading`, directly from the chain, and adds
 * them to it. If this fails, `reading` is complete up to its block, and the next call continues there.
 *
 * Anyone can open as many orders as they pay for. Orders that are not in the books only enter the sums of what the
 * escrows owe, and those with a token that the deployment does not list are skipped. An order becomes an event again if
 * something happens to it that only the service's attesters can cause.
 */
export async function readChainEvents(
	chain: AuditedChain,
	{ reading, toBlock, acquaintance }: { reading: ChainReading; toBlock: number; acquaintance: Acquaintance },
): Promise<void> {
	const judged = new Set(reading.events.opened.map(({ orderId }) => orderId));
	let blocks = maxBlocks;
	while (reading.upTo < toBlock) {
		const fromBlock = reading.upTo + 1;
		const part = { fromBlock, toBlock: Math.min(fromBlock + blocks - 1, toBlock), topics: readTopics };
		let read: RangeLogs;
		try {
			read = { logs: await logsOf(chain, { ...part, isRetried: false }) };
		} catch {
			// The node did not return so many logs. Each range is added before the next is read, because all of them together
			// may not fit into memory.
			if (part.toBlock > fromBlock) {
				blocks = Math.ceil((part.toBlock - fromBlock + 1) / 2);
				continue;
			}
			read = await logsOfFullBlock(chain, { part, judged, acquaintance });
		}
		await addLogs(chain, { logs: read.logs, reading, judged, acquaintance });
		if (read.missing) takeOutOfSums(chain, { reading, block: fromBlock, missing: read.missing });
		reading.upTo = part.toBlock;
		blocks = Math.min(maxBlocks, blocks + Math.ceil(blocks / 8));
	}
}

type RangeLogs = {
	logs: RpcLog[];
	/** Undefined if all logs were read. */
	missing?: Missing | undefined;
};

/** The logs of a block that its node does not list. */
type Missing = {
	/** Kinds of events that were read for known subjects only. */
	topics: ReadonlySet<Hex>;
	/** Known wallets with more claims than the node lists even for one wallet. None of these claims was read. */
	claimants: ReadonlySet<Hex>;
};

/**
 * Reads a block of which the node does not return all logs in one response. Reads only what concerns known orders and
 * wallets if the block has too many logs of an event.
 */
async function logsOfFullBlock(
	chain: AuditedChain,
	{
		part,
		judged,
		acquaintance: { orderIds, wallets },
	}: Pick<Reader, "judged" | "acquaintance"> & { part: LogPart },
): Promise<RangeLogs> {
	const missing = { topics: new Set<Hex>(), claimants: new Set<Hex>() };
	const { logs, isComplete } = await readLogs(part, {
		read: async (some) => {
			try {
				return await logsOf(chain, { ...some, isRetried: true });
			} catch (error) {
				const [subject, ...others] = some.subjects ?? [];
				// A wallet can claim any number of times in a block, so no smaller request is possible.
				if (some.topics[0] !== topics.Claimed || !subject || others.length > 0) throw error;
				missing.claimants.add(subject);
				return [];
			}
		},
		subjectsOf: async (topic) => {
			if (ownTopics.has(topic)) return undefined;
			missing.topics.add(topic);
			return topic === topics.Claimed ? [...wallets] : [...new Set([...orderIds, ...judged])];
		},
	});
	return { logs, missing: isComplete ? undefined : missing };
}

/**
 * Subtracts from the sums what may have left the escrow in a block that was read in part. Call it after the logs of
 * that block were added, because the end of an order that was opened there may be among the missing logs. A missing
 * opening or credit is in no sum. The sums are then too small, never too large.
 */
function takeOutOfSums(
	{ chainId }: AuditedChain,
	{ reading, block, missing }: { reading: ChainReading; block: number; missing: Missing },
): void {
	const { strangers, credits, events } = reading;
	if (missing.topics.has(topics.Released) || missing.topics.has(topics.Refunded)) strangers.uncountAll();
	if (missing.topics.has(topics.Claimed)) credits.clear();
	// Each credit of a wallet whose claims may be missing counts as claimed. The books may have a refund as paid that
	// was paid by such a claim.
	for (const { order } of events.opened) {
		if (!missing.claimants.has(order.wallet)) continue;
		const key = claimKey(chainId, order.escrow, order.wallet, order.inputToken);
		events.claimed.set(key, { chainId, block });
	}
	reading.unlistedBlocks++;
}

/** Adds the order of a stranger to the events, because something happened to it that the audit has to check. */
export async function judgeStranger(
	chain: AuditedChain,
	{ reading: { events, strangers }, orderId }: { reading: ChainReading; orderId: Hex },
): Promise<void> {
	const found = strangers.find(orderId);
	if (!found) return;
	const order = await readTerms(chain, found);
	events.opened.push({ chainId: chain.chainId, block: found.block, orderId: found.orderId, order });
	strangers.remove(found.orderId);
}

/** Returns the key of an escrow's holding of a token. */
export function holdingKey(escrow: Hex, token: Hex): string {
	return `${escrow}:${token}`.toLowerCase();
}

/** Returns the key of all claims of a beneficiary for a token. */
export function claimKey(chainId: number, escrow: Hex, beneficiary: Hex, token: Hex): string {
	return [chainId, escrow, beneficiary, token].join(":").toLowerCase();
}

async function logsOf(
	{ client, escrows, vaults, accessManager }: AuditedChain,
	{ fromBlock, toBlock, topics: firsts, subjects, isRetried }: LogPart & { isRetried: boolean },
): Promise<RpcLog[]> {
	const filter = {
		address: [...escrows, ...vaults, accessManager],
		fromBlock: numberToHex(fromBlock),
		toBlock: numberToHex(toBlock),
		topics: subjects ? [[...firsts], [...subjects]] : [[...firsts]],
	};
	return client.request({ method: "eth_getLogs", params: [filter] }, isRetried ? {} : { retryCount: 0 });
}

/** Reads the order that was opened with this id, in its block. */
async function readTerms(
	chain: AuditedChain,
	{ orderId, block }: { orderId: Hex; block: number },
): Promise<Order> {
	const wanted = { fromBlock: block, toBlock: block, topics: [topics.Opened], subjects: [orderId] };
	const [opened] = await logsOf(chain, { ...wanted, isRetried: true });
	if (!opened) throw new Error(`its node no longer returns the opening of order ${orderId}`);
	return openingOf(chain, opened).order;
}

const termsFields = getAbiItem({ abi: geoEscrowAbi, name: "Opened" }).inputs[2].components;

/** Decodes an `Opened` event, in which each field is one word. There may be very many of them. */
function openingOf(
	{ chainId }: AuditedChain,
	{ address, topics: [, orderId, wallet], data, blockNumber }: RpcLog,
): ChainEvents["opened"][number] {
	if (!orderId || !wallet || data.length !== 2 + 64 * termsFields.length) {
		throw new Error("its node returned an event that no escrow emits");
	}
	const terms = termsFields.map(({ name, type }, i) => {
		const word: Hex = `0x${data.slice(2 + 64 * i, 66 + 64 * i).toLowerCase()}`;
		return [name, type === "uint256" ? BigInt(word) : word];
	});
	return {
		chainId,
		block: Number(blockNumber),
		orderId,
		order: {
			...Object.fromEntries(terms),
			originChainId: BigInt(chainId),
			escrow: toWord(address),
			wallet: wallet.toLowerCase(),
		} as Order,
	};
}

type FinalLog = Log<bigint, number, false>;

/** Adds the logs of some blocks. All requests are made first, so that nothing is added twice if one fails. */
async function addLogs(
	chain: AuditedChain,
	{ logs, reading, judged, acquaintance }: Reader & { logs: RpcLog[] },
): Promise<void> {
	const { chainId, escrows, vaults, deployment } = chain;
	const { events, strangers, credits } = reading;
	const { isSwap, wallets, refundableAt } = acquaintance;
	const isOf = (addresses: readonly Address[]) => {
		const own = new Set<string>(addresses.map((address) => address.toLowerCase()));
		return ({ address }: { address: Address }) => own.has(address.toLowerCase());
	};
	const isOpening = ({ topics: [topic] }: RpcLog) => topic === topics.Opened;
	const logsFrom = (addresses: readonly Address[]) =>
		logs
			.filter((log) => !isOpening(log))
			.filter(isOf(addresses))
			.map((log) => formatLog(log) as FinalLog);
	const ofEscrows = parseEventLogs({ abi: geoEscrowAbi, logs: logsFrom(escrows) });
	const ofVaults = parseEventLogs({ abi: geoVaultAbi, logs: logsFrom(vaults) });
	const at = ({ blockNumber }: { blockNumber: bigint }) => ({ chainId, block: Number(blockNumber) });

	const listed = new Set(deployment.assets.map(({ address }) => toWord(address)));
	const opened = logs
		.filter(isOpening)
		.filter(isOf(escrows))
		.map((log) => openingOf(chain, log));
	const openedHere = new Map(opened.map((event) => [event.orderId, event]));
	const isJudged = (orderId: Hex) => isSwap(orderId) || judged.has(orderId);
	const refundableOf = (orderId: Hex) => {
		const here = openedHere.get(orderId);
		return here ? refundableAt(here.order) : (strangers.find(orderId)?.refundableAt ?? 0);
	};
	const decisions = ofEscrows.filter((log) => log.eventName === "Released" || log.eventName === "Refunded");
	const ofStrangers = decisions.filter(
		({ args }) => !isJudged(args.orderId) && refundableOf(args.orderId) > 0,
	);
	// Many nodes return a block's time with its logs. Otherwise each block with such a refund takes a request.
	const untimed = ofStrangers.filter(
		({ eventName, blockTimestamp }) => eventName === "Refunded" && typeof blockTimestamp !== "bigint",
	);
	const times = new Map(
		await mapConcurrently(
			[...new Set(untimed.map(({ blockNumber }) => blockNumber))],
			async (blockNumber) => [blockNumber, (await chain.client.getBlock({ blockNumber })).timestamp] as const,
		),
	);
	const toJudge = ofStrangers
		.filter(
			({ eventName, args, blockNumber, blockTimestamp }) =>
				eventName === "Released" ||
				Number(blockTimestamp ?? times.get(blockNumber) ?? 0n) < refundableOf(args.orderId),
		)
		.map(({ args }) => args.orderId);
	await mapConcurrently(
		toJudge.filter((orderId) => !openedHere.has(orderId)),
		(orderId) => judgeStranger(chain, { reading, orderId }),
	);

	for (const orderId of toJudge) judged.add(orderId);
	for (const event of opened) {
		const { orderId, order } = event;
		if (isJudged(orderId)) events.opened.push(event);
		else if (listed.has(order.inputToken)) {
			strangers.add({
				orderId,
				block: event.block,
				refundableAt: refundableAt(order),
				holding: holdingKey(order.escrow, order.inputToken),
				amount: order.inputAmount,
			});
		}
	}
	for (const log of decisions) {
		const kind = log.eventName === "Released" ? "released" : "refunded";
		if (isJudged(log.args.orderId)) events[kind].push({ ...at(log), ...log.args });
		else strangers.remove(log.args.orderId);
	}
	const addCredit = (escrow: Address, token: Address, amount: Amount) => {
		const key = holdingKey(toWord(escrow), toWord(token));
		const sum = (credits.get(key) ?? 0n) + amount;
		// A claim may include credits that are in no sum.
		if (sum > 0n) credits.set(key, sum);
		else credits.delete(key);
	};
	for (const log of ofEscrows) {
		if (log.eventName === "Credited") addCredit(log.address, log.args.token, log.args.amount);
	}
	for (const log of ofEscrows) {
		if (log.eventName !== "Claimed") continue;
		const { beneficiary, token, amount } = log.args;
		addCredit(log.address, token, -amount);
		const word = toWord(beneficiary);
		if (!wallets.has(word)) continue;
		events.claimed.set(claimKey(chainId, toWord(log.address), word, toWord(token)), at(log));
	}
	for (const log of ofVaults) {
		if (log.eventName === "Filled") {
			events.filled.push({ ...at(log), ...log.args, transaction: log.transactionHash });
		} else if (log.eventName === "Voided") events.voided.push({ ...at(log), ...log.args });
	}
	addFlows(chain, {
		flows: reading.flows,
		logs: logs.filter((log) => !isOpening(log)).map((log) => formatLog(log) as FinalLog),
	});
}
