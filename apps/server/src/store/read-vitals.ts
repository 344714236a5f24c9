import { bytesToHex, type Hex } from "viem";
import type { Database } from "./database.ts";
import type { JobKind } from "./job.ts";

/** What an operator asks first, as the database knows it. */
export type Vitals = {
	stock: { chainId: number; token: Hex; balance: bigint; outflowAvailable: bigint; reserved: bigint }[];
	/** Of inputs from a chain: delivered or about to be, and not ours yet. */
	exposure: { chainId: number; unreleasedUsdCents: bigint; unfinalUsdCents: bigint }[];
	heads: { chainId: number; updatedSecondsAgo: number; blockSecondsAgo: number; unfinalBlocks: number }[];
	heartbeats: { attester: Hex; chainId: number; secondsAgo: number }[];
	jobs: { chainId: number; kind: JobKind; state: string; count: number; oldestSeconds: number }[];
	/** Signed, and in no final block yet. */
	transactions: { chainId: number; count: number; oldestSeconds: number }[];
	/** Of the last day, in the chain's smallest unit. */
	unsettledGas: { chainId: number; wei: bigint }[];
};

/** Reads all of it in a few questions, each by itself: nothing is locked from one to the next. */
export async function readVitals(db: Database, { nowMs }: { nowMs: number }): Promise<Vitals> {
	return {
		stock: await readStock(db),
		exposure: await readExposure(db),
		heads: await readHeads(db, nowMs),
		heartbeats: await readHeartbeats(db, nowMs),
		jobs: await readJobs(db, nowMs),
		transactions: await readTransactions(db, nowMs),
		unsettledGas: await readUnsettledGas(db, nowMs),
	};
}

async function readStock(db: Database): Promise<Vitals["stock"]> {
	const { rows } = await db.query<{
		chain_id: number;
		token: Uint8Array;
		balance: bigint;
		outflow_available: bigint;
		reserved: bigint;
	}>("select chain_id, token, balance, outflow_available, reserved from stock");
	return rows.map((row) => ({
		chainId: row.chain_id,
		token: bytesToHex(row.token),
		balance: row.balance,
		outflowAvailable: row.outflow_available,
		reserved: row.reserved,
	}));
}

async function readExposure(db: Database): Promise<Vitals["exposure"]> {
	const { rows } = await db.query<{ chain_id: number; unreleased: bigint; unfinal: bigint }>(
		`select origin_chain_id as chain_id, sum(value_usd_cents) as unreleased,
			coalesce(sum(value_usd_cents) filter (where not is_final), 0) as unfinal
		from exposures group by 1`,
	);
	return rows.map((row) => ({
		chainId: row.chain_id,
		unreleasedUsdCents: row.unreleased,
		unfinalUsdCents: row.unfinal,
	}));
}

async function readHeads(db: Database, nowMs: number): Promise<Vitals["heads"]> {
	const { rows } = await db.query<{
		chain_id: number;
		updated_at: Date;
		timestamp: number;
		unfinal: number;
	}>("select chain_id, updated_at, timestamp, number - finalized_number as unfinal from chain_heads");
	return rows.map((row) => ({
		chainId: row.chain_id,
		updatedSecondsAgo: (nowMs - row.updated_at.getTime()) / 1_000,
		blockSecondsAgo: nowMs / 1_000 - row.timestamp,
		unfinalBlocks: row.unfinal,
	}));
}

async function readHeartbeats(db: Database, nowMs: number): Promise<Vitals["heartbeats"]> {
	const { rows } = await db.query<{ attester: Uint8Array; chain_id: number; signed_at: Date }>(
		"select attester, chain_id, signed_at from heartbeats",
	);
	return rows.map((row) => ({
		attester: bytesToHex(row.attester),
		chainId: row.chain_id,
		secondsAgo: (nowMs - row.signed_at.getTime()) / 1_000,
	}));
}

async function readJobs(db: Database, nowMs: number): Promise<Vitals["jobs"]> {
	const { rows } = await db.query<{
		chain_id: number;
		kind: JobKind;
		state: string;
		count: number;
		oldest: Date;
	}>(
		`select chain_id, kind, state, count(*) as count, min(updated_at) as oldest from jobs
		where state in ('unattested', 'queued', 'sent') group by 1, 2, 3`,
	);
	return rows.map(({ chain_id, oldest, ...row }) => ({
		...row,
		chainId: chain_id,
		oldestSeconds: (nowMs - oldest.getTime()) / 1_000,
	}));
}

async function readTransactions(db: Database, nowMs: number): Promise<Vitals["transactions"]> {
	const { rows } = await db.query<{ chain_id: number; count: number; oldest: Date }>(
		`select chain_id, count(*) as count, min(created_at) as oldest from lane_transactions
		where state <> 'final' group by 1`,
	);
	return rows.map(({ chain_id, count, oldest }) => ({
		chainId: chain_id,
		count,
		oldestSeconds: (nowMs - oldest.getTime()) / 1_000,
	}));
}

async function readUnsettledGas(db: Database, nowMs: number): Promise<Vitals["unsettledGas"]> {
	const { rows } = await db.query<{ chain_id: number; wei: bigint }>(
		`select chain_id, sum(wei) as wei from unsettled_gas
		where at > to_timestamp($1::double precision / 1000) - interval '1 day' group by 1`,
		[nowMs],
	);
	return rows.map(({ chain_id, wei }) => ({ chainId: chain_id, wei }));
}
