import {
	type Amount,
	fromSolanaWord,
	type Milliseconds,
	type Order,
	orderSchema,
	type Seconds,
	type SolanaAddress,
	type SwapStatus,
	solanaChainId,
	type UsdCents,
} from "@geoswap/protocol";
import type pg from "pg";
import type { Address, Hex } from "viem";
import type { ChainEvents } from "./read-chain-events.ts";

export type Books = {
	/** The last block of each chain that is in the ledger. */
	bookedBlocks: Map<number, number>;
	/** The time of the newest final block that the service has processed of each chain, by that chain's clock. */
	bookedAt: Map<number, bigint>;
	/** The time at which the database was last restored from a backup. */
	restoredAtMs: Milliseconds | undefined;
	/** Keyed by `${chainId}:${token}`, the token in lower case. */
	inventory: Map<string, bigint>;
	/** The account `bridge`, by the same keys: the amounts that bridges took, less those that they delivered. */
	bridge: Map<string, bigint>;
	/** The last block of each chain that is in the balances with which its books began. */
	openings: Map<number, number>;
	/** All current and former relayers of each chain, and what they hold of its native token by the ledger. */
	relayers: Map<number, { addresses: Hex[]; booked: Amount }>;
	/** Chains with a final block of which the service has not read its transactions. */
	unread: Set<number>;
	/** What the operator declared to come in or go out, and what the treasurer's key was to move, unless cancelled. */
	flows: DeclaredFlow[];
	/** The books of Solana. Every account of the ledger has a counterpart on the chain. Undefined if there are none. */
	solana: SolanaBooks | undefined;
	/** The number of postings that were checked to balance, and those that do not, with their chains. */
	postings: number;
	unbalanced: { key: string; chainIds: number[] }[];
	swaps: AuditedSwap[];
	/** Orders of swaps that have not ended, by event. An event in any block counts. */
	events: { filled: Set<Hex>; decided: Set<Hex> };
	/** Deposits that a second provider has confirmed, by order and block. */
	crossChecks: Set<string>;
	/** Orders with more than one swap. */
	doubled: { orderId: Hex; swapIds: string[] }[];
	nonces: { checked: number; wrong: WrongNonce[] };
};

/** A nonce with more than one set of jobs, or more than one transaction in a block. */
type WrongNonce = { chainId: number; relayer: string; nonce: string; sets: number; landed: number };

export type SolanaBooks = {
	/** Everything up to this slot is in the balances with which the books began. */
	openingSlot: number;
	/** All current and former fee payers. */
	feePayers: SolanaAddress[];
	/** Signatures of the transactions that lanes have recorded. */
	written: Set<Hex>;
	/** Accounts of the program whose rent is booked as returned. */
	returned: Set<SolanaAddress>;
	/** Sums by account and token, in hex. */
	sums: { account: string; token: Hex; amount: Amount }[];
};

export type AuditedSwap = {
	id: string;
	orderId: Hex;
	order: Order;
	status: SwapStatus;
	/** True if the swap's outcome is final. */
	isEnded: boolean;
	/** Seconds for which it has been due; negative if it is not due yet, undefined if it has no due time. */
	dueSeconds: Seconds | undefined;
	endedAtMs: Milliseconds | undefined;
	deliveredAmount: Amount | undefined;
	valueUsdCents: UsdCents;
	stage: string;
	/** All stages that it was in, and the status that ended them. */
	moves: string[];
	/** The deposits on which deliveries were decided, oldest first. A reorg that drops a deposit leads to another one. */
	decisions: DecidedOn[];
};

type DecidedOn = {
	blockNumber: number;
	headNumber: number;
	finalizedNumber: number;
	/** Undefined if the deposit had to be final. */
	blocksNeeded: number | undefined;
	/** The value above which a second provider had to have the deposit. */
	agreeAboveUsd: number | undefined;
	atMs: Milliseconds;
};

/** A row of `treasury_moves`. Addresses are in lower case. */
export type DeclaredFlow = {
	kind: "deposit" | "withdrawal" | "trade" | "send" | "bridge";
	chainId: number;
	holder: Hex;
	token: Hex;
	amount: Amount;
	address: Hex | undefined;
	toChainId: number | undefined;
	toToken: Hex | undefined;
	minReceived: Amount | undefined;
	received: Amount | undefined;
	moveId: Hex | undefined;
	movedBlock: number | undefined;
	state: string;
	isBooked: boolean;
};

/** The maximum number of postings that can be written concurrently. So many before the newest are read again. */
const postingsAtOnce = 10_000;

/** Reads the books in one database snapshot. Numbers are read as text, because the driver's parsing is not trusted. */
export async function readBooks(
	pool: pg.Pool,
	{
		endedAfter,
		postingsAfter,
	}: {
		/** Swaps that ended before this are left out. By default all are read. */
		endedAfter?: Date | undefined;
		/** Only postings after this one are checked to balance. */
		postingsAfter?: bigint | undefined;
	} = {},
): Promise<Books & { lastPosting: bigint }> {
	const client = await pool.connect();
	let broken: Error | undefined;
	const breakOff = (error: Error) => {
		broken = error;
	};
	// The pool handles errors of idle connections only, and an unhandled error would end the process.
	client.on("error", breakOff);
	try {
		await client.query("begin isolation level repeatable read, read only");
		const heads = await client.query<{ chain: string; block: string; at: string }>(
			`select chain_id::text as chain, booked_number::text as block, finalized_timestamp::text as at
			from chain_heads`,
		);
		const restores = await client.query<{ at_ms: string | null }>(
			"select floor(extract(epoch from max(at)) * 1000)::text as at_ms from restores",
		);
		const held = await client.query<{ account: string; chain: string; token: string; sum: string }>(
			`select account, chain_id::text as chain, encode(token, 'hex') as token, sum(amount)::text as sum
			from entries where account in ('inventory', 'bridge') group by 1, 2, 3`,
		);
		const heldIn = (name: string) =>
			new Map(
				held.rows
					.filter(({ account }) => account === name)
					.map(({ chain, token, sum }) => [inventoryKey(Number(chain), `0x${token}`), BigInt(sum)]),
			);
		const openings = await client.query<{ chain: string; block: string }>(
			"select chain_id::text as chain, block_number::text as block from postings where name = 'opening'",
		);
		const relayers = await client.query<{ chain: string; address: string }>(
			"select chain_id::text as chain, encode(address, 'hex') as address from relayers order by chain_id, address",
		);
		const gas = await client.query<{ chain: string; sum: string }>(
			`select chain_id::text as chain, sum(amount)::text as sum from entries
			where account = 'relayer' and token = decode(repeat('00', length(token)), 'hex') group by 1`,
		);
		const unread = await client.query<{ chain: string }>(
			`select distinct chain_id::text as chain from unread_blocks u join chain_heads h using (chain_id)
			where not u.is_partial and u.number <= h.booked_number`,
		);
		const flows = await client.query<FlowRow>(
			`select kind, chain_id::text as chain, encode(holder, 'hex') as holder, encode(token, 'hex') as token,
				amount::text as amount, encode(address, 'hex') as address, to_chain_id::text as to_chain,
				encode(to_token, 'hex') as to_token, min_received::text as min_received, received::text as received,
				encode(move_id, 'hex') as move_id, moved_block::text as moved_block, state,
				posting_key is not null as is_booked
			from treasury_moves where state <> 'cancelled'`,
		);
		const sums = await client.query<{ account: string; token: string; sum: string }>(
			`select account, encode(token, 'hex') as token, sum(amount)::text as sum
			from entries e join postings p on p.id = e.posting_id join chain_heads h on h.chain_id = e.chain_id
			where e.chain_id = $1 and p.block_number <= h.booked_number group by 1, 2`,
			[solanaChainId],
		);
		const lanes = await client.query<{ relayer: string }>(
			"select encode(relayer, 'hex') as relayer from lanes where chain_id = $1",
			[solanaChainId],
		);
		const written = await client.query<{ hash: string }>(
			"select encode(hash, 'hex') as hash from lane_transactions where chain_id = $1",
			[solanaChainId],
		);
		const returned = await client.query<{ address: string }>(
			`select substr(split_part(key, ':', 4), 3) as address from postings
			where chain_id = $1 and name = 'RentReturned'`,
			[solanaChainId],
		);
		const firstPosting = postingsAfter === undefined ? 0n : postingsAfter - BigInt(postingsAtOnce);
		const postings = await client.query<{ count: string; last: string }>(
			`select count(*) filter (where id > $1)::text as count, coalesce(max(id), 0)::text as last from postings
			where id > $1`,
			[String(firstPosting)],
		);
		const unbalanced = await client.query<{ key: string; chains: string[] }>(
			`select p.key, array_agg(distinct chain::text) as chains from postings p join (
				select posting_id, chain_id from entries where posting_id > $1
				group by posting_id, chain_id, token having sum(amount) <> 0
			) as wrong on wrong.posting_id = p.id, unnest(array[p.chain_id, wrong.chain_id]) as chain
			group by p.id order by p.id`,
			[String(firstPosting)],
		);
		const since = [endedAfter ?? null];
		const isAudited = "(s.ended_at is null or $1::timestamptz is null or s.ended_at > $1)";
		const swaps = await client.query<SwapRow>(
			`select id::text as id, encode(order_id, 'hex') as order_id, order_terms::text as order_terms, status,
				floor(extract(epoch from ended_at) * 1000)::text as ended_at_ms, delivered_amount::text as delivered_amount,
				value_usd_cents::text as value_usd_cents, stage, moves,
				(select extract(epoch from now() - due_at)::text from waits w where w.swap_id = s.id) as due_seconds
			from swaps s where ${isAudited} order by id`,
			since,
		);
		const decisions = await client.query<DecisionRow>(
			`select swap_id::text as id, e.data->'deposit'->>'blockNumber' as block,
				e.data->'deposit'->>'headNumber' as head, e.data->'deposit'->>'finalizedNumber' as finalized,
				e.data->'deposit'->>'blocksNeeded' as needed, e.data->>'agreeAboveUsd' as agree_above,
				floor(extract(epoch from e.at) * 1000)::text as at_ms
			from swap_events e join swaps s on s.id = e.swap_id
			where e.fact = 'delivering' and e.data ? 'deposit' and ${isAudited} order by seq`,
			since,
		);
		const crossChecks = await client.query<{ order_id: string; block: string }>(
			`select encode(g.order_id, 'hex') as order_id, g.block_number::text as block
			from cross_checks g join swaps s on s.order_id = g.order_id where ${isAudited}`,
			since,
		);
		const events = await client.query<{ order_id: string; name: string }>(
			`select encode(e.order_id, 'hex') as order_id, e.name
			from chain_events e join swaps s on s.order_id = e.order_id
			where s.ended_at is null and e.name in ('Filled', 'Released', 'Refunded')`,
		);
		const doubled = await client.query<{ order_id: string; ids: string[] }>(
			`select encode(order_id, 'hex') as order_id, array_agg(id::text order by id) as ids from swaps
			where order_id in (select order_id from swaps s where ${isAudited})
			group by 1 having count(*) > 1 order by 1`,
			since,
		);
		// Selects everything that was ever signed for a nonce, if one of its transactions is new or can still land.
		const areMoving = `where (chain_id, relayer, nonce) in (
			select chain_id, relayer, nonce from lane_transactions where created_at > $1
			union select chain_id, relayer, nonce from lane_transactions where state <> 'final'
		)`;
		const nonces = await client.query<NonceRow>(
			`select chain_id::text as chain, encode(relayer, 'hex') as relayer, nonce::text as nonce,
				count(distinct (select jsonb_agg(job order by job) from jsonb_array_elements(jobs) as job))
					filter (where kind <> 'cancel')::text as sets,
				count(block_number)::text as landed
			from lane_transactions ${endedAfter ? areMoving : ""} group by 1, 2, 3 order by 1, 2, 3`,
			endedAfter ? since : [],
		);
		const decisionsOf = Map.groupBy(decisions.rows, ({ id }) => id);
		const restoredAtMs = restores.rows[0]?.at_ms;
		const openingOf = new Map(openings.rows.map(({ chain, block }) => [Number(chain), Number(block)]));
		const openingSlot = openingOf.get(solanaChainId);
		return {
			bookedBlocks: new Map(heads.rows.map(({ chain, block }) => [Number(chain), Number(block)])),
			bookedAt: new Map(heads.rows.map(({ chain, at }) => [Number(chain), BigInt(at)])),
			restoredAtMs: typeof restoredAtMs === "string" ? Number(restoredAtMs) : undefined,
			inventory: heldIn("inventory"),
			bridge: heldIn("bridge"),
			openings: openingOf,
			relayers: new Map(
				[...Map.groupBy(relayers.rows, ({ chain }) => Number(chain))].map(([chainId, rows]) => [
					chainId,
					{
						addresses: rows.map(({ address }): Hex => `0x${address}`),
						booked: BigInt(gas.rows.find(({ chain }) => Number(chain) === chainId)?.sum ?? 0),
					},
				]),
			),
			unread: new Set(unread.rows.map(({ chain }) => Number(chain))),
			flows: flows.rows.map(flowFromRow),
			solana:
				openingSlot === undefined
					? undefined
					: {
							openingSlot,
							feePayers: lanes.rows.map(({ relayer }) => fromSolanaWord(`0x${relayer}`)),
							written: new Set(written.rows.map(({ hash }): Hex => `0x${hash}`)),
							returned: new Set(returned.rows.map(({ address }) => fromSolanaWord(`0x${address}`))),
							sums: sums.rows.map(({ account, token, sum }) => ({
								account,
								token: `0x${token}`,
								amount: BigInt(sum),
							})),
						},
			postings: Number(postings.rows[0]?.count ?? 0),
			lastPosting: BigInt(postings.rows[0]?.last ?? 0),
			unbalanced: unbalanced.rows.map(({ key, chains }) => ({ key, chainIds: chains.map(Number) })),
			events: {
				filled: new Set(events.rows.filter(({ name }) => name === "Filled").map(orderIdOfRow)),
				decided: new Set(events.rows.filter(({ name }) => name !== "Filled").map(orderIdOfRow)),
			},
			crossChecks: new Set(
				crossChecks.rows.map((row) =>
					crossCheckKey({ orderId: orderIdOfRow(row), blockNumber: Number(row.block) }),
				),
			),
			doubled: doubled.rows.map((row) => ({ orderId: orderIdOfRow(row), swapIds: row.ids })),
			nonces: {
				checked: nonces.rows.length,
				wrong: nonces.rows
					.map(({ chain, relayer, nonce, sets, landed }) => ({
						chainId: Number(chain),
						relayer,
						nonce,
						sets: Number(sets),
						landed: Number(landed),
					}))
					.filter(({ sets, landed }) => sets > 1 || landed > 1),
			},
			swaps: swaps.rows.map((row) => ({
				id: row.id,
				orderId: `0x${row.order_id}`,
				order: orderSchema.parse(JSON.parse(row.order_terms)),
				status: row.status,
				isEnded: row.ended_at_ms !== null,
				dueSeconds: row.due_seconds === null ? undefined : Number(row.due_seconds),
				endedAtMs: row.ended_at_ms === null ? undefined : Number(row.ended_at_ms),
				deliveredAmount: row.delivered_amount === null ? undefined : BigInt(row.delivered_amount),
				valueUsdCents: BigInt(row.value_usd_cents),
				stage: row.stage,
				moves: row.moves,
				decisions: decisionsOf.get(row.id)?.map(decisionFromRow) ?? [],
			})),
		};
	} finally {
		await client.query("rollback").catch(breakOff);
		client.off("error", breakOff);
		client.release(broken);
	}
}

/** Returns which of these orders have a swap, regardless of when it ended. */
export async function readOrdersOfSwaps(
	pool: pg.Pool,
	orders: readonly { orderId: Hex }[],
): Promise<Set<Hex>> {
	if (orders.length === 0) return new Set();
	const { rows } = await pool.query<{ order_id: string }>(
		"select encode(order_id, 'hex') as order_id from swaps where order_id = any($1::bytea[])",
		[orders.map(({ orderId }) => Buffer.from(orderId.slice(2), "hex"))],
	);
	return new Set(rows.map(orderIdOfRow));
}

/** Returns which of these fills' transactions were signed by the service. */
export async function readSigned(pool: pg.Pool, fills: ChainEvents["filled"]): Promise<Set<Hex>> {
	const hashes = fills.flatMap(({ transaction }) => transaction ?? []);
	if (hashes.length === 0) return new Set();
	const { rows } = await pool.query<{ hash: string }>(
		`select encode(hash, 'hex') as hash from lane_transactions
		where chain_id = any($1::bigint[]) and hash = any($2::bytea[])`,
		[
			[...new Set(fills.map(({ chainId }) => chainId))],
			hashes.map((hash) => Buffer.from(hash.slice(2), "hex")),
		],
	);
	return new Set(rows.map(({ hash }): Hex => `0x${hash}`));
}

type SwapRow = {
	id: string;
	order_id: string;
	order_terms: string;
	status: SwapStatus;
	ended_at_ms: string | null;
	delivered_amount: string | null;
	value_usd_cents: string;
	stage: string;
	moves: string[];
	due_seconds: string | null;
};

type FlowRow = {
	kind: DeclaredFlow["kind"];
	chain: string;
	holder: string;
	token: string;
	amount: string;
	address: string | null;
	to_chain: string | null;
	to_token: string | null;
	min_received: string | null;
	received: string | null;
	move_id: string | null;
	moved_block: string | null;
	state: string;
	is_booked: boolean;
};

function flowFromRow(row: FlowRow): DeclaredFlow {
	const hexOf = (text: string | null): Hex | undefined => (text === null ? undefined : `0x${text}`);
	const amountOf = (text: string | null): Amount | undefined => (text === null ? undefined : BigInt(text));
	return {
		kind: row.kind,
		chainId: Number(row.chain),
		holder: `0x${row.holder}`,
		token: `0x${row.token}`,
		amount: BigInt(row.amount),
		address: hexOf(row.address),
		toChainId: row.to_chain === null ? undefined : Number(row.to_chain),
		toToken: hexOf(row.to_token),
		minReceived: amountOf(row.min_received),
		received: amountOf(row.received),
		moveId: hexOf(row.move_id),
		movedBlock: row.moved_block === null ? undefined : Number(row.moved_block),
		state: row.state,
		isBooked: row.is_booked,
	};
}

type NonceRow = { chain: string; relayer: string; nonce: string; sets: string; landed: string };

type DecisionRow = {
	id: string;
	block: string;
	head: string;
	finalized: string;
	needed: string | null;
	agree_above: string | null;
	at_ms: string;
};

function decisionFromRow(row: DecisionRow): DecidedOn {
	return {
		blockNumber: Number(row.block),
		headNumber: Number(row.head),
		finalizedNumber: Number(row.finalized),
		blocksNeeded: row.needed === null ? undefined : Number(row.needed),
		agreeAboveUsd: row.agree_above === null ? undefined : Number(row.agree_above),
		atMs: Number(row.at_ms),
	};
}

function orderIdOfRow({ order_id }: { order_id: string }): Hex {
	return `0x${order_id}`;
}

export function inventoryKey(chainId: number, token: Address): string {
	return `${chainId}:${token.toLowerCase()}`;
}

/** Returns the key of a deposit in `cross_checks`. */
export function crossCheckKey({ orderId, blockNumber }: { orderId: string; blockNumber: number }): string {
	return `${orderId}:${blockNumber}`;
}
