import { addressOfWord, type Milliseconds, type Order, type SwapUuid, toChainId } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { Database } from "../database/database.ts";
import type { Named, Row } from "../database/rows.ts";
import { type HeadJson, headFromJson, headJson } from "../swap/due/chain-head.ts";
import type {
	AttestersWanted,
	ChainHead,
	CrossCheck,
	Facts,
	OrderEvent,
	OrderEventData,
	OrderEventName,
	SecondAnswer,
} from "../swap/facts/facts.ts";
import type { SwapRecord } from "../swap/facts/swap-record.ts";
import { type SwapRow, swapColumns, swapFromRow } from "../swap/record/read-swap.ts";

/**
 * The facts that a round has read about one swap. `read` throws if a fact cannot be read, which does not affect other
 * swaps.
 */
export type Look = {
	swapId: SwapUuid;
	wait: WaitBefore;
	read: () => LookedAt;
};

export type LookedAt = {
	swap: SwapRecord;
	turn: number;
	/** True if its value counts as at risk. */
	isExposed: boolean;
	/** True if its value counts as at risk, and its deposit as one that the chain can still drop. */
	isUnfinalExposed: boolean;
	/** Undefined if one of its chains is not followed yet. */
	facts: Facts | undefined;
};

/** The state that the previous round left. */
export type WaitBefore = {
	/** The swap's mark when the facts were read. */
	mark: number;
	fact: string | undefined;
	idleRounds: number;
	/** The deposit that the second provider was queried for, and whether it has yet to answer. */
	ask: { deposit: unknown; isOpen: boolean } | undefined;
	second: (SecondAnswer & { ageMs: Milliseconds }) | undefined;
};

/**
 * Time after which the database itself ends a statement, well before its caller stops waiting. An abandoned statement
 * would still hold the swaps, and the retry of one swap at a time would find them locked.
 */
const statementTimeoutMs = 10_000;

/**
 * Locks those of the swaps that no other process holds and that have not ended, until the transaction ends, and returns
 * them. Until then no other lock is waited for longer than `lockTimeoutMs`.
 */
export async function lockSwaps(
	db: Database,
	{ swapIds, lockTimeoutMs }: { swapIds: readonly SwapUuid[]; lockTimeoutMs: Milliseconds },
): Promise<SwapUuid[]> {
	const { rows } = await db.query<{ id: SwapUuid }>({
		name: "lock-swaps",
		text: `with patience as materialized (
				select set_config('lock_timeout', $2, true), set_config('statement_timeout', '${statementTimeoutMs}', true)
			)
			select id from swaps cross join patience where id = any($1::uuid[]) and ended_at is null
			order by id for update of swaps skip locked`,
		values: [swapIds, `${lockTimeoutMs}ms`],
	});
	return rows.map((row) => row.id);
}

const eventNames: readonly OrderEventName[] = ["Opened", "Released", "Refunded", "Filled", "Voided"];

/** The column is qualified, since the waits have an order id too. */
const columns = swapColumns.replace("order_id", "s.order_id");
const waitColumns = "mark, fact, idle_rounds, ask, ask_chain_id, second_word, second_since, second_alarmed";
/** Qualified too, because a later version may add a column of the same name to `swaps`. */
const qualifiedWaitColumns = waitColumns.replaceAll(/\w+/g, "w.$&");

type LookOptions = {
	/** Returns the attesters that decide an order. */
	attestersOf: (order: Order) => AttestersWanted;
	nowMs: Milliseconds;
};

/**
 * Reads all that the next decisions about these swaps depend on, in one statement. Two would read two moments, and a
 * job that is done without its event would be done twice. The swaps must be held, so that each round reads what the
 * previous one wrote. Leaves out a swap that another round has handled since it was found to be due.
 */
export async function loadSwapFacts(
	db: Database,
	{ swapIds, ...options }: LookOptions & { swapIds: readonly SwapUuid[] },
): Promise<Look[]> {
	const { rows } = await db.query<LookRow>({
		name: "look-at-swaps",
		text: `${selectLooks} and ${isDue} order by s.id`,
		values: [swapIds, eventNames],
	});
	return looksOf(db, rows, options);
}

/**
 * Reads the same facts about one swap, due or not, without locks, so that an operator can find out what a round would
 * do. Returns undefined if no round handles the swap any more.
 */
export async function lookAtSwap(
	db: Database,
	{ swapId, ...options }: LookOptions & { swapId: SwapUuid },
): Promise<Look | undefined> {
	const { rows } = await db.query<LookRow>({
		name: "look-at-swap",
		text: selectLooks,
		values: [[swapId], eventNames],
	});
	const [look] = await looksOf(db, rows, options);
	return look;
}

const isDue = `(w.due_at <= now() or exists (
				select from chain_heads h where h.chain_id = w.head_chain_id and h.number >= w.head_number
					or h.chain_id = w.finalized_chain_id and h.finalized_number >= w.finalized_number
			))`;

const selectLooks = `select ${columns}, s.turn, ${qualifiedWaitColumns},
				(extract(epoch from now() - w.second_at) * 1000)::float8 as second_age_ms,
				exists (select from reservations r where r.swap_id = s.id) as is_reserved,
				(select x.is_final from exposures x where x.swap_id = s.id) as is_exposure_final,
				(select json_agg(json_build_array(e.chain_id, e.name, e.block_number, encode(e.block_hash, 'hex'),
						encode(e.transaction_hash, 'hex'), e.data, g.head_number, g.finalized_number))
					from chain_events e
					left join cross_checks g using (order_id, chain_id, block_number, block_hash, transaction_hash)
					where order_id = s.order_id and e.name = any($2)) as events,
				(select json_object_agg(j.kind, json_strip_nulls(json_build_object('chainId', j.chain_id, 'state', j.state,
						'reason', j.reason, 'ageMs', (extract(epoch from now() - j.updated_at) * 1000)::float8)))
					from jobs j where j.swap_id = s.id) as jobs,
				case when row_number() over (order by s.id) = 1 then (select json_agg(${headJson}) from chain_heads head) end as heads,
				case when row_number() over (order by s.id) = 1 then (select json_agg(json_build_array(encode(attester, 'hex'), chain_id,
						finalized_number, extract(epoch from signed_at))) from heartbeats) end as heartbeats
			from swaps s join waits w on w.swap_id = s.id
			where s.id = any($1::uuid[]) and w.swap_id = any($1)`;

async function looksOf(
	db: Database,
	rows: readonly LookRow[],
	{ attestersOf, nowMs }: LookOptions,
): Promise<Look[]> {
	const [shared] = rows;
	const heads = new Map(shared?.heads?.map((json) => [json.chainId, headFromJson(json)]));
	const countAlive = attesterCounter({ beats: shared?.heartbeats ?? [], heads, nowMs });
	const claims = await lookForClaims(db, rows);
	return rows.map((row) => ({
		swapId: row.id,
		wait: waitOf(row),
		read: () => {
			const swap = swapFromRow(row);
			const { order } = swap;
			const [origin, destination] = [order.originChainId, order.destinationChainId].map((id) =>
				heads.get(toChainId(id)),
			);
			const looked = {
				swap,
				turn: row.turn,
				isExposed: row.is_exposure_final !== null,
				isUnfinalExposed: row.is_exposure_final === false,
			};
			if (!origin || !destination) return { ...looked, facts: undefined };
			const chainIds = [origin.chainId, destination.chainId];
			const events = (row.events ?? []).filter(([chainId]) => chainIds.includes(chainId));
			const crossCheck = crossCheckOf(events);
			const claimed = claims.get(row.id);
			return {
				...looked,
				facts: {
					swap,
					origin,
					destination,
					events: Object.fromEntries(events.map((tuple) => [tuple[1], eventOf(tuple)])),
					...(crossCheck && { crossCheck }),
					...(claimed && { claimed }),
					jobs: row.jobs ?? {},
					isReserved: row.is_reserved,
					attestersAlive: countAlive(attestersOf(order)),
				},
			};
		},
	}));
}

type BeatTuple = [attester: string, chainId: number, finalizedNumber: number, signedAt: number];
type EventData = { paid?: boolean; delivered?: string; spentToken?: Hex; spent?: string };
type EventTuple = [
	chainId: number,
	name: OrderEventName,
	blockNumber: number,
	blockHash: string,
	transactionHash: string,
	data: EventData,
	headNumber: number | null,
	finalizedNumber: number | null,
];

type LookRow = SwapRow &
	Row<"swaps", "turn"> &
	Row<"waits", Named<typeof waitColumns>> & {
		second_age_ms: number | null;
		is_reserved: boolean;
		/** Null if nothing is at risk. */
		is_exposure_final: boolean | null;
		events: EventTuple[] | null;
		jobs: Facts["jobs"] | null;
		heads: HeadJson[] | null;
		heartbeats: BeatTuple[] | null;
	};

function waitOf(row: LookRow): WaitBefore {
	const { second_word: word, second_since: since, second_age_ms: ageMs } = row;
	return {
		mark: row.mark,
		fact: row.fact ?? undefined,
		idleRounds: row.idle_rounds,
		ask: row.ask === null ? undefined : { deposit: row.ask, isOpen: row.ask_chain_id !== null },
		second:
			word && since && ageMs !== null
				? { word, sinceMs: since.getTime(), isAlarmed: row.second_alarmed, ageMs }
				: undefined,
	};
}

/** Returns the cross-check of the deposit. On one chain its delivery may share the transaction. */
function crossCheckOf(events: readonly EventTuple[]): CrossCheck | undefined {
	const opened = events.find(([, name]) => name === "Opened");
	const [headNumber, finalizedNumber] = opened?.slice(6) ?? [];
	if (typeof headNumber !== "number" || typeof finalizedNumber !== "number") return undefined;
	return { headNumber, finalizedNumber };
}

function eventOf([, name, blockNumber, blockHash, transactionHash, data]: EventTuple): OrderEvent {
	return {
		name,
		blockNumber,
		blockHash: `0x${blockHash}`,
		transactionHash: `0x${transactionHash}`,
		data: eventData(name, data),
	} as OrderEvent;
}

function eventData(name: OrderEventName, data: EventData): OrderEventData[OrderEventName] {
	if (name === "Filled") {
		return {
			delivered: BigInt(data.delivered ?? 0),
			spentToken: data.spentToken ?? "0x",
			spent: BigInt(data.spent ?? 0),
		};
	}
	return name === "Released" || name === "Refunded" ? { paid: data.paid === true } : {};
}

/** Counts like the query `attestersAlive`, but from rows read with the rest, and once for all orders alike. */
function attesterCounter({
	beats,
	heads,
	nowMs,
}: {
	beats: readonly BeatTuple[];
	heads: ReadonlyMap<number, ChainHead>;
	nowMs: Milliseconds;
}): (wanted: AttestersWanted) => number {
	const byAttester = Map.groupBy(beats, ([attester]) => attester);
	const counts = new Map<string, number>();
	return (wanted) => {
		const { attesters, chainIds, heartbeatSeconds, sightSeconds } = wanted;
		const key = JSON.stringify(wanted);
		const known = counts.get(key);
		if (known !== undefined) return known;
		const sees = (attester: Hex, chainId: number) => {
			const head = heads.get(chainId);
			const beat = byAttester.get(attester.slice(2).toLowerCase())?.find(([, id]) => id === chainId);
			if (!head || !beat) return false;
			const [, , finalizedNumber, signedAt] = beat;
			// The blocks that are not final yet show how long a block takes.
			const unfinalSeconds = head.timestamp - head.finalizedTimestamp + 1;
			const isNear =
				(head.finalizedNumber - finalizedNumber) * unfinalSeconds <=
				sightSeconds * (head.number - head.finalizedNumber + 1);
			return isNear && signedAt > nowMs / 1_000 - heartbeatSeconds;
		};
		const distinct = [...new Set(attesters.map((attester) => attester.toLowerCase() as Hex))];
		const count = distinct.filter((attester) => chainIds.every((id) => sees(attester, id))).length;
		counts.set(key, count);
		return count;
	};
}

/**
 * Reads the claims that paid out refunds which became credits. A claim pays out all that its beneficiary is owed of a
 * token, so the first one after the refund paid this one too. A separate statement is harmless, because a claim only
 * ever ends a swap once it is final. Such refunds are rare.
 */
async function lookForClaims(
	db: Database,
	rows: readonly LookRow[],
): Promise<Map<SwapUuid, NonNullable<Facts["claimed"]>>> {
	const claims = new Map<SwapUuid, NonNullable<Facts["claimed"]>>();
	for (const row of rows) {
		const isCredited = row.events?.some(([, name, , , , { paid }]) => name === "Refunded" && paid !== true);
		const order = isCredited ? orderOf(row) : undefined;
		if (!order) continue;
		const { rows: found } = await db.query<{ block_number: number; transaction_hash: Buffer }>({
			name: "look-claim",
			text: `select claimed.block_number, claimed.transaction_hash
				from chain_events refunded join chain_events claimed using (chain_id, contract)
				where refunded.order_id = $1 and refunded.chain_id = $2 and refunded.name = 'Refunded'
					and claimed.order_id is null and claimed.name = 'Claimed'
					and claimed.data->>'beneficiary' = $3 and claimed.data->>'token' = $4
					and (claimed.block_number, claimed.log_index) > (refunded.block_number, refunded.log_index)
				order by claimed.block_number, claimed.log_index limit 1`,
			values: [
				row.order_id,
				toChainId(order.originChainId),
				addressOfWord(order.originChainId, order.wallet),
				addressOfWord(order.originChainId, order.inputToken),
			],
		});
		const [claim] = found;
		if (!claim) continue;
		claims.set(row.id, {
			blockNumber: claim.block_number,
			transactionHash: bytesToHex(claim.transaction_hash),
		});
	}
	return claims;
}

/** Returns undefined if the row cannot be read, which `read` reports. */
function orderOf(row: LookRow): Order | undefined {
	try {
		return swapFromRow(row).order;
	} catch {
		return undefined;
	}
}
