import type { Amount, Milliseconds } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { TreasuryPolicy } from "../config/treasury-policy.ts";
import { type Database, type DatabasePool, inTransaction } from "../database/database.ts";
import { formatUsd } from "../desk/sealed-quote.ts";
import { moveCostBps } from "./move-cost.ts";
import type { TreasuryPlan } from "./plan.ts";
import type { Held } from "./read-treasury-state.ts";
import type { TreasuryState } from "./treasury-state.ts";

/** A plan as its row has it. Amounts are in the tokens' smallest units, as texts. */
export type StoredPlan = {
	moves: StoredMove[];
	/** Sentences on what is not moved, and why. */
	reasons: string[];
	chains: {
		chainId: number;
		name: string;
		status: TreasuryState["chains"][number]["status"];
		/** The settlement token first. */
		tokens: PlannedToken[];
	}[];
};

type StoredMove = {
	moveId: Hex;
	kind: "trade" | "send" | "bridge" | "manual";
	chainId: number;
	token: Hex;
	toChainId: number;
	toToken: Hex;
	/** Who receives. */
	address: Hex;
	amount: string;
	costUsd: string;
	/** One sentence for people, with the numbers that decided. */
	reason: string;
};

export type PlannedToken = {
	token: Hex;
	symbol: string;
	decimals: number;
	/** The vault's balance, and its part that is neither promised nor leaving. */
	held: string;
	free: string;
	arriving: string;
	/** Null for a token that is not the settlement token. */
	needed: string | null;
	target: string | null;
	/** What the cheapest way to bring more costs. Null if there is none. */
	moveCostBps: number | null;
	/** What is kept of a token that is not the settlement token. */
	maxHeld: string | null;
};

/** Returns the plan as it is stored, with what the inventory was when it was made. */
export function toStoredPlan(
	{ moves, reasons, needs }: TreasuryPlan,
	{ state, held, policy }: { state: TreasuryState; held: Held; policy: TreasuryPolicy },
): StoredPlan {
	return {
		moves: moves.map(
			({ moveId, kind, chainId, token, toChainId, toToken, address, amount, costE18, reason }) => ({
				moveId,
				kind,
				chainId,
				token,
				toChainId,
				toToken,
				address,
				amount: String(amount),
				costUsd: formatUsd(costE18),
				reason,
			}),
		),
		reasons,
		chains: state.chains.map((chain) => {
			const { chainId, name, status, settlement, assets } = chain;
			const need = needs.get(chainId);
			const common = ({
				token,
				symbol,
				decimals,
				free,
			}: Pick<typeof settlement, "token" | "symbol" | "decimals" | "free">) => ({
				token,
				symbol,
				decimals,
				held: String(held(chainId, token)),
				free: String(free),
			});
			return {
				chainId,
				name,
				status,
				tokens: [
					{
						...common(settlement),
						arriving: String(settlement.arriving),
						needed: String(need?.amount ?? 0n),
						target: String(settlement.target),
						moveCostBps: (need && moveCostBps(chain, { need, state, policy })) ?? null,
						maxHeld: null,
					},
					...assets.map((asset) => ({
						...common(asset),
						arriving: "0",
						needed: null,
						target: null,
						moveCostBps: null,
						maxHeld: String(asset.maxHeld),
					})),
				],
			};
		}),
	};
}

/** Plans that are kept: those of a day, at the default time between two. */
const plansKept = 288;

/** Writes the plan and its needs, by which prices lean, in one transaction. */
export async function savePlan(
	pool: DatabasePool,
	{ plan, nowMs }: { plan: StoredPlan; nowMs: Milliseconds },
): Promise<void> {
	const needs = plan.chains.flatMap(({ chainId, tokens }) =>
		tokens.flatMap(({ token, needed, arriving, moveCostBps: costBps }) =>
			needed === null
				? []
				: [{ chainId, token, needed: BigInt(needed), arriving: BigInt(arriving), moveCostBps: costBps }],
		),
	);
	await inTransaction(pool, async (db) => {
		await saveNeeds(db, needs);
		await db.query(
			`insert into treasury_plans (at, plan) values (to_timestamp($1::double precision), $2)
			on conflict (at) do nothing`,
			[nowMs / 1_000, JSON.stringify(plan)],
		);
		await db.query(
			"delete from treasury_plans where at < (select min(at) from (select at from treasury_plans order by at desc limit $1) kept)",
			[plansKept],
		);
	});
}

/** Removes all needs, so that no price leans by them. */
export function clearNeeds(pool: DatabasePool): Promise<void> {
	return inTransaction(pool, (db) => saveNeeds(db, []));
}

type TokenNeed = {
	chainId: number;
	token: Hex;
	needed: Amount;
	arriving: Amount;
	moveCostBps: number | null;
};

/** Replaces the needs of all tokens. Rows are locked in the order of all that lock several. */
async function saveNeeds(db: Database, needs: readonly TokenNeed[]): Promise<void> {
	await db.query(
		`with need as (
			select * from unnest($1::bigint[], $2::bytea[], $3::numeric[], $4::numeric[], $5::integer[])
				as need (chain_id, token, needed, arriving, move_cost_bps)
		), held as materialized (
			select chain_id, token from inventory order by chain_id, token for update
		)
		update inventory i
		set needed = need.needed, arriving = coalesce(need.arriving, 0), move_cost_bps = need.move_cost_bps
		from held left join need using (chain_id, token)
		where (i.chain_id, i.token) = (held.chain_id, held.token)
			and (i.needed, i.arriving, i.move_cost_bps)
				is distinct from (need.needed, coalesce(need.arriving, 0), need.move_cost_bps)`,
		[
			needs.map(({ chainId }) => chainId),
			needs.map(({ token }) => hexToBytes(token)),
			needs.map(({ needed }) => needed),
			needs.map(({ arriving }) => arriving),
			needs.map(({ moveCostBps: costBps }) => costBps),
		],
	);
}

/** Returns the newest plan and its time, or undefined if there is none. */
export async function readNewestPlan(db: Database): Promise<{ at: Date; plan: StoredPlan } | undefined> {
	const { rows } = await db.query<{ at: Date; plan: StoredPlan }>(
		"select at, plan from treasury_plans order by at desc limit 1",
	);
	return rows[0];
}
