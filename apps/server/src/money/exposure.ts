import { greater, type Order, type SwapUuid, toChainId, type UsdCents } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import type { Row } from "../database/rows.ts";
import type { ExposureCaps } from "../swap/facts/facts.ts";

/**
 * Marks the deposits of the blocks after `after` and up to `upTo` as final, since they can no longer be dropped. Reads
 * only what became final now, regardless of how much is at risk. A value put at risk by a round that has not read that
 * yet is left to the next round of its swap.
 */
export async function markDepositsFinal(
	db: Database,
	{ chainId, after, upTo }: { chainId: number; after: number; upTo: number },
): Promise<void> {
	if (upTo <= after) return;
	await db.query(
		`with held as materialized (
			select x.swap_id from exposures x where x.origin_chain_id = $1 and not x.is_final and x.order_id = any(array(
				select e.order_id from chain_events e
				where e.chain_id = $1 and e.block_number > $2 and e.block_number <= $3 and e.name = 'Opened'
			)) order by x.swap_id for update
		)
		update exposures x set is_final = true from held where x.swap_id = held.swap_id`,
		[chainId, after, upTo],
	);
}

/**
 * Marks the deposits of these swaps as final. They were not when the value was put at risk, or the round that did it
 * had read an earlier state of the chain. Skips a locked row, because it is being dropped, or marked by a follower.
 */
export async function markExposuresFinal(db: Database, swapIds: readonly SwapUuid[]): Promise<void> {
	if (swapIds.length === 0) return;
	await db.query(
		`with held as materialized (
			select swap_id from exposures where swap_id = any($1::uuid[]) and not is_final
			order by swap_id for update skip locked
		)
		update exposures x set is_final = true from held where x.swap_id = held.swap_id`,
		[swapIds],
	);
}

/** A sum of values at risk for inputs from one chain. */
type Sum = {
	/** The value for each attester set. */
	unreleased: Map<Hex, bigint>;
	unfinal: bigint;
};

/** The value at risk for inputs from one chain: of all swaps, and of those of single accounts. */
export type AtRisk = Sum & { ofAccounts: Map<string, Sum> };

/**
 * Reads what is at risk for inputs from `originIds`, in all and for each of `accountIds`, and which of `chainIds` are
 * paused because they dropped final blocks. Until the transaction ends no other one can put anything at risk for these
 * origins, because two fills that each find room for themselves would together be too much.
 */
export async function lockExposures(
	db: Database,
	{
		originIds,
		accountIds,
		chainIds,
	}: { originIds: readonly number[]; accountIds: readonly string[]; chainIds: readonly number[] },
): Promise<{ atRisk: Map<number, AtRisk>; broken: Set<number> }> {
	if (originIds.length + chainIds.length === 0) return { atRisk: new Map(), broken: new Set() };
	// The lock comes before any read, in a separate statement, because a statement does not read what is committed while
	// it waits.
	if (originIds.length > 0) {
		await db.query({
			name: "lock-exposures",
			text: `select count(pg_advisory_xact_lock(hashtextextended('exposure:' || id, 0)))
				from (select id from unnest($1::text[]) as id order by id) as origin`,
			values: [originIds.map(String)],
		});
	}
	const { rows } = await db.query<SumRow>({
		name: "sum-exposures",
		text: `select array(select chain_id from pauses
				where chain_id = any($2::bigint[]) and cause = 'finality' and lifted_at is null) as broken,
				origin_chain_id, attester_set, account_id, unreleased, unfinal
			from (select) always left join (
				select origin_chain_id, attester_set, null as account_id, sum(value_usd_cents) as unreleased,
					coalesce(sum(value_usd_cents) filter (where not is_final), 0) as unfinal
				from exposures where origin_chain_id = any($1::bigint[]) group by origin_chain_id, attester_set
				union all
				select origin_chain_id, attester_set, account_id, sum(value_usd_cents),
					coalesce(sum(value_usd_cents) filter (where not is_final), 0)
				from exposures where account_id = any($3::uuid[]) and origin_chain_id = any($1)
				group by origin_chain_id, attester_set, account_id
			) sums on true`,
		values: [originIds, chainIds, accountIds],
	});
	const atRisk = new Map<number, AtRisk>(originIds.map((id) => [id, { ...noSum(), ofAccounts: new Map() }]));
	for (const row of rows) {
		const all = row.origin_chain_id === null ? undefined : atRisk.get(row.origin_chain_id);
		if (!all || row.origin_chain_id === null) continue;
		const sum = row.account_id === null ? all : sumOf(all, row.account_id);
		sum.unreleased.set(bytesToHex(row.attester_set), row.unreleased);
		sum.unfinal += row.unfinal;
	}
	return { atRisk, broken: new Set(rows[0]?.broken.map(Number)) };
}

type Summed = Row<"exposures", "origin_chain_id" | "attester_set" | "account_id"> & {
	unreleased: bigint;
	unfinal: bigint;
};
/** There is a row even if nothing is at risk. A row without an account is of all swaps. */
type SumRow = { broken: string[] } & (Summed | { origin_chain_id: null });

function noSum(): Sum {
	return { unreleased: new Map(), unfinal: 0n };
}

function sumOf({ ofAccounts }: AtRisk, accountId: string): Sum {
	const sum = ofAccounts.get(accountId) ?? noSum();
	ofAccounts.set(accountId, sum);
	return sum;
}

type RiskyValue = {
	accountId: string | undefined;
	attesterSet: Hex;
	usdCents: UsdCents;
	/** True if its deposit is final. */
	isFinal: boolean;
};

/**
 * Adds a value to what is at risk. Returns false and adds nothing if that would be more than the caps allow to all
 * swaps, or to those of its account.
 */
export function putAtRisk(all: AtRisk, value: RiskyValue, caps?: ExposureCaps): boolean {
	const own = value.accountId === undefined ? undefined : sumOf(all, value.accountId);
	if (caps && !hasRoom(all, value, caps)) return false;
	if (caps && own && !hasRoomOfAccount(own, value, caps)) return false;
	for (const sum of own ? [all, own] : [all]) {
		sum.unreleased.set(value.attesterSet, unreleasedOf(sum, value) + value.usdCents);
		if (!value.isFinal) sum.unfinal += value.usdCents;
	}
	return true;
}

function hasRoom(
	sum: Sum,
	value: RiskyValue,
	caps: Pick<ExposureCaps, "unreleasedUsdCents" | "unfinalUsdCents">,
): boolean {
	if (unreleasedOf(sum, value) + value.usdCents > caps.unreleasedUsdCents) return false;
	return value.isFinal || sum.unfinal + value.usdCents <= caps.unfinalUsdCents;
}

/**
 * An account's only unreleased swap may be larger than its share, since it would otherwise never be filled. A deposit
 * that is larger than the share becomes final, and then counts no more.
 */
function hasRoomOfAccount(sum: Sum, value: RiskyValue, { ofAccount }: ExposureCaps): boolean {
	const isOnly = unreleasedOf(sum, value) === 0n;
	const caps = isOnly
		? { ...ofAccount, unreleasedUsdCents: greater(ofAccount.unreleasedUsdCents, value.usdCents) }
		: ofAccount;
	return hasRoom(sum, value, caps);
}

function unreleasedOf({ unreleased }: Sum, { attesterSet }: RiskyValue): bigint {
	return unreleased.get(attesterSet) ?? 0n;
}

/** Counts values as at risk, regardless of the caps, because a restored store may lack one that is delivered. */
export async function insertExposures(
	db: Database,
	exposures: readonly { swap: ExposedSwap; isFinal: boolean }[],
): Promise<void> {
	if (exposures.length === 0) return;
	await db.query({
		name: "insert-exposures",
		...namedParameters(
			`insert into exposures (swap_id, order_id, origin_chain_id, attester_set, value_usd_cents, is_final, account_id)
			select id, order_id, origin, attester_set, cents, is_final, account_id
			from unnest($swapIds::uuid[], $orderIds::bytea[], $originChainIds::bigint[], $attesterSets::bytea[],
				$valuesUsdCents::bigint[], $isFinal::boolean[], $accountIds::uuid[])
				as x (id, order_id, origin, attester_set, cents, is_final, account_id)
			on conflict do nothing`,
			{
				swapIds: exposures.map(({ swap }) => swap.id),
				orderIds: exposures.map(({ swap }) => Buffer.from(hexToBytes(swap.orderId))),
				originChainIds: exposures.map(({ swap }) => toChainId(swap.order.originChainId)),
				attesterSets: exposures.map(({ swap }) => Buffer.from(hexToBytes(swap.order.attesterSet))),
				valuesUsdCents: exposures.map(({ swap }) => swap.valueUsdCents),
				isFinal: exposures.map(({ isFinal }) => isFinal),
				accountIds: exposures.map(({ swap }) => swap.accountId ?? null),
			},
		),
	});
}

type ExposedSwap = {
	id: SwapUuid;
	accountId?: string | undefined;
	orderId: Hex;
	order: Order;
	valueUsdCents: UsdCents;
};

/** Deletes the exposures of orders that no transaction can fill, because nothing is at risk there any more. */
export async function dropExposures(db: Database, swapIds: readonly SwapUuid[]): Promise<void> {
	if (swapIds.length === 0) return;
	await db.query(
		`with held as materialized (
			select swap_id from exposures where swap_id = any($1::uuid[]) order by swap_id for update
		)
		delete from exposures x using held where x.swap_id = held.swap_id and not exists (
			select from jobs j where j.swap_id = x.swap_id and j.kind = 'fill' and j.state <> 'refused'
		)`,
		[swapIds],
	);
}
