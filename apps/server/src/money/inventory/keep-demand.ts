import { type Amount, firstSwapUuidAt, type Milliseconds } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import type { DemandLog, SwapFlows } from "../../swap/facts/demand-log.ts";

const flushEveryMs = 60_000;
const weekMs = 7 * 86_400_000;
/** Bounds the memory of a minute. What would need more entries is not counted. */
const maxEntries = 10_000;

export type KeptDemand = DemandLog & {
	/** Writes what was recorded since the last call. What cannot be written is dropped. Never rejects. */
	flush(): Promise<void>;
	/** Writes the rest and ends. */
	close(): Promise<void>;
};

/** The flows of one account, or of swaps, for which there is no account. */
type TokenFlow = {
	accountId: string | undefined;
	chainId: number;
	token: Hex;
	outflow: Amount;
	inflow: Amount;
};

/** Records the demand for inventory, and writes it once a minute. */
export function keepDemand({
	pool,
	everyMs = flushEveryMs,
	nowMs,
	onError = () => {},
}: {
	pool: DatabasePool;
	everyMs?: Milliseconds;
	nowMs: () => Milliseconds;
	onError?: (error: unknown) => void;
}): KeptDemand {
	let quotedUsdCents = new Map<string, bigint>();
	let flows = new Map<string, TokenFlow>();
	let writing: Promise<void> | undefined;
	const timer = setInterval(() => void flush(), everyMs);
	return {
		quoted: addQuoted,
		refused: ({ accountId, valueUsdCents, ...swap }) => {
			addQuoted({ accountId, valueUsdCents });
			addFlows(accountId, swap);
		},
		served: (swap) => addFlows(undefined, swap),
		flush,
		async close() {
			clearInterval(timer);
			await writing;
			await flush();
		},
	};

	function addQuoted({ accountId, valueUsdCents }: Parameters<DemandLog["quoted"]>[0]): void {
		const sum = quotedUsdCents.get(accountId);
		if (sum === undefined && quotedUsdCents.size >= maxEntries) return;
		quotedUsdCents.set(accountId, (sum ?? 0n) + valueUsdCents);
	}

	function addFlows(accountId: string | undefined, { taken, brought }: SwapFlows): void {
		flowOf(accountId, taken).outflow += taken.amount;
		flowOf(accountId, brought).inflow += brought.amount;
	}

	function flowOf(
		accountId: string | undefined,
		{ chainId, token }: { chainId: number; token: Hex },
	): TokenFlow {
		const key = `${accountId} ${chainId} ${token.toLowerCase()}`;
		const known = flows.get(key);
		if (known) return known;
		const flow: TokenFlow = { accountId, chainId, token, outflow: 0n, inflow: 0n };
		if (flows.size < maxEntries) flows.set(key, flow);
		return flow;
	}

	function flush(): Promise<void> {
		// One write at a time, so that a database that hangs gets no more of them.
		writing ??= write().finally(() => {
			writing = undefined;
		});
		return writing;
	}

	async function write(): Promise<void> {
		const [quoted, asked] = [[...quotedUsdCents], [...flows.values()]];
		quotedUsdCents = new Map();
		flows = new Map();
		const atMs = nowMs();
		try {
			await inTransaction(pool, async (db) => {
				if (quoted.length > 0) await addQuotedVolume(db, { quoted, atMs });
				if (asked.length > 0) await addDemand(db, { flows: asked, atMs });
				await db.query("delete from demand where minute < to_timestamp($1)", [(atMs - weekMs) / 1_000]);
				await db.query("delete from quoted_volume where day < date_trunc('day', to_timestamp($1), 'UTC')", [
					(atMs - weekMs) / 1_000,
				]);
			});
		} catch (error) {
			onError(error);
		}
	}
}

async function addQuotedVolume(
	db: Database,
	{ quoted, atMs }: { quoted: readonly (readonly [string, bigint])[]; atMs: Milliseconds },
): Promise<void> {
	await db.query(
		`insert into quoted_volume (account_id, day, usd_cents)
		select account_id, date_trunc('day', to_timestamp($1), 'UTC'), usd_cents
		from unnest($2::uuid[], $3::numeric[]) as quoted (account_id, usd_cents)
		order by account_id
		on conflict (account_id, day) do update set usd_cents = quoted_volume.usd_cents + excluded.usd_cents`,
		[atMs / 1_000, quoted.map(([accountId]) => accountId), quoted.map(([, usdCents]) => usdCents)],
	);
}

/**
 * Adds flows to the current minute. Those of an account, which were refused, are weighted by the share of its quoted
 * volume that it settled in the last week. All that it adds in a week then grows with what it settles, and with the
 * logarithm only of what it requests.
 */
async function addDemand(
	db: Database,
	{ flows, atMs }: { flows: readonly TokenFlow[]; atMs: Milliseconds },
): Promise<void> {
	await db.query(
		`with flow as (
			select * from unnest($2::uuid[], $3::bigint[], $4::bytea[], $5::numeric[], $6::numeric[])
				as flow (account_id, chain_id, token, outflow, inflow)
		), weight as materialized (
			select account_id, least(1, coalesce((
				select sum(value_usd_cents) from swaps
				where swaps.account_id = account.account_id and status = 'settled' and id >= $7
			), 0) / greatest(1, (
				select sum(usd_cents) from quoted_volume
				where quoted_volume.account_id = account.account_id
					and day >= date_trunc('day', to_timestamp($8), 'UTC')
			))) as share
			from (select distinct account_id from flow where account_id is not null) account
		), weighted as (
			select chain_id, token, trunc(sum(outflow * share)) as outflow, trunc(sum(inflow * share)) as inflow
			from (
				select chain_id, token, outflow, inflow,
					case when account_id is null then 1 else (
						select share from weight where weight.account_id = flow.account_id
					) end as share
				from flow
			) shared
			group by chain_id, token
		)
		insert into demand (chain_id, token, minute, outflow, inflow)
		select chain_id, token, date_trunc('minute', to_timestamp($1)), outflow, inflow
		from weighted where outflow > 0 or inflow > 0
		order by chain_id, token
		on conflict (chain_id, token, minute) do update
			set outflow = demand.outflow + excluded.outflow, inflow = demand.inflow + excluded.inflow`,
		[
			atMs / 1_000,
			flows.map(({ accountId }) => accountId ?? null),
			flows.map(({ chainId }) => chainId),
			flows.map(({ token }) => hexToBytes(token)),
			flows.map(({ outflow }) => outflow),
			flows.map(({ inflow }) => inflow),
			firstSwapUuidAt(atMs - weekMs),
			(atMs - weekMs) / 1_000,
		],
	);
}
