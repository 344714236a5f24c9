import { DatabaseSync } from "node:sqlite";
import { ConfigError } from "@geoswap/keys/config/config-error";
import { keyAboveCap } from "@geoswap/keys/payload";
import type { Hex } from "viem";
import type { Charge, Decision, OrderDecision } from "../policy/judgement.ts";
import { isKeyMeter, isUnprovenMeter } from "../policy/meters.ts";
import { type RefusalReason, refuse } from "../policy/refusal.ts";
import type { Cap, Caps } from "./cap.ts";

/** A payload, identified by its key and its hash. */
export type PayloadId = { key: string; digest: string };

/** The charges, nonce and decisions of a payload, which are written to disk before it is signed. */
type Reservation = {
	id: PayloadId;
	charges: readonly Charge[];
	nonce?: number | undefined;
	decisions?: readonly OrderDecision[] | undefined;
};

export type SignerState = {
	/** Returns the signature that was made for a payload, or whether the payload is already counted. */
	recall: (id: PayloadId) => { signature: string | undefined } | undefined;
	/** Counts a payload, on disk before it returns. Throws a `Refusal`, and counts nothing, if a cap would be exceeded. */
	reserve: (reservation: Reservation) => void;
	/** Stores a signature. */
	remember: (id: PayloadId, signature: string) => void;
	/** Returns the highest nonce that a key has signed; undefined if none. */
	highestNonce: (key: string) => number | undefined;
	/** Returns what signed payloads decide about an order. */
	decisionsOf: (orderId: Hex) => Decision[];
	/** Returns what each meter has counted, and may count. */
	report: () => { meter: string; cap: Cap; hour: bigint; day: bigint }[];
	close: () => void;
};

const schema = `
create table if not exists spent (meter text not null, minute integer not null, amount text not null, primary key (meter, minute)) without rowid;
create table if not exists items (meter text not null, item text not null, amount text not null, at_ms integer not null, primary key (meter, item)) without rowid;
create table if not exists payloads (key text not null, digest text not null, signature text, at_ms integer not null, primary key (key, digest)) without rowid;
create table if not exists nonces (key text primary key, highest integer not null) without rowid;
create table if not exists decisions (order_id text not null, decision text not null, at_ms integer not null, primary key (order_id, decision)) without rowid;
create index if not exists items_at on items (at_ms);
create index if not exists payloads_at on payloads (at_ms);
create index if not exists decisions_at on decisions (at_ms);
`;

const dayMs = 24 * 3_600_000;
/** No order lasts for longer than three days, so nothing is requested again after that. */
const keptMs = 4 * dayMs;
const pruneEveryMs = 3_600_000;

/**
 * Opens the file that holds what the signer has counted, so that a restart does not renew its caps. Throws if another
 * signer uses the file, because each of the two would count only its own half.
 */
export function openSignerState({
	path,
	caps,
	nowMs,
}: {
	path: string;
	caps: Caps;
	nowMs: () => number;
}): SignerState {
	const db = openDatabase(path);
	const spendings = new Map<string, Spending>();
	let prunedAtMs = 0;

	const statements = {
		spent: db.prepare("select minute, amount from spent where meter = ?"),
		spend: db.prepare(
			"insert into spent values (?, ?, ?) on conflict do update set amount = excluded.amount",
		),
		amountIn: db.prepare("select amount from spent where meter = ? and minute = ?"),
		item: db.prepare("select amount from items where meter = ? and item = ?"),
		putItem: db.prepare(
			"insert into items values (?, ?, ?, ?) on conflict do update set amount = excluded.amount, at_ms = excluded.at_ms",
		),
		payload: db.prepare("select signature from payloads where key = ? and digest = ?"),
		putPayload: db.prepare("insert into payloads values (?, ?, null, ?) on conflict do nothing"),
		putSignature: db.prepare("update payloads set signature = ? where key = ? and digest = ?"),
		nonce: db.prepare("select highest from nonces where key = ?"),
		putNonce: db.prepare(
			"insert into nonces values (?, ?) on conflict do update set highest = max(highest, excluded.highest)",
		),
		decisions: db.prepare("select decision from decisions where order_id = ?"),
		putDecision: db.prepare(
			"insert into decisions values (?, ?, ?) on conflict do update set at_ms = max(at_ms, excluded.at_ms)",
		),
	};

	function spendingOf(meter: string): Spending {
		let spending = spendings.get(meter);
		if (!spending) {
			const rows = statements.spent.all(meter) as { minute: number; amount: string }[];
			spending = createSpending(rows.map(({ minute, amount }) => [minute, BigInt(amount)] as const));
			spendings.set(meter, spending);
		}
		return spending;
	}

	/** Returns by how much each item grows. Throws if a meter cannot take it. */
	function growthOf(charges: readonly Charge[], minute: number): (Charge & { growth: bigint })[] {
		const grown = new Map<string, bigint>();
		return charges.map((charge) => {
			const { meter, item, amount, why } = charge;
			const reason = reasonAt(meter);
			const because = why === undefined ? "" : `: ${why}`;
			const cap = caps.get(meter);
			if (!cap)
				return refuse(
					reason,
					`${meter} has no cap in the signer's file, so that nothing is allowed${because}`,
				);
			const before = BigInt(
				(statements.item.get(meter, item) as { amount: string } | undefined)?.amount ?? 0,
			);
			const growth = amount > before ? amount - before : 0n;
			const together = (grown.get(meter) ?? 0n) + growth;
			grown.set(meter, together);
			const window = exceededWindow(spendingOf(meter).sums(minute), { amount: together, cap });
			if (growth > 0n && window)
				refuse(
					reason,
					`${meter} would exceed its cap for ${window === "hour" ? "an hour" : "a day"}${because}`,
				);
			return { ...charge, growth };
		});
	}

	function transaction(run: () => void): void {
		db.exec("begin immediate");
		try {
			run();
			db.exec("commit");
		} catch (error) {
			db.exec("rollback");
			throw error;
		}
	}

	function prune(): void {
		if (nowMs() - prunedAtMs < pruneEveryMs) return;
		prunedAtMs = nowMs();
		const old = prunedAtMs - keptMs;
		for (const table of ["items", "payloads", "decisions"])
			db.prepare(`delete from ${table} where at_ms < ?`).run(old);
		db.prepare("delete from spent where minute < ?").run(Math.floor(old / 60_000));
	}

	return {
		recall: ({ key, digest }) => {
			const row = statements.payload.get(key, digest) as { signature: string | null } | undefined;
			return row && { signature: row.signature ?? undefined };
		},
		reserve: ({ id: { key, digest }, charges, nonce, decisions = [] }) => {
			const at = nowMs();
			const minute = Math.floor(at / 60_000);
			const grown = growthOf(charges, minute);
			transaction(() => {
				prune();
				for (const { meter, item, amount, growth } of grown) {
					if (growth === 0n) continue;
					statements.putItem.run(meter, item, String(amount), at);
					const row = statements.amountIn.get(meter, minute) as { amount: string } | undefined;
					statements.spend.run(meter, minute, String(BigInt(row?.amount ?? 0) + growth));
				}
				statements.putPayload.run(key, digest, at);
				if (nonce !== undefined) statements.putNonce.run(key, nonce);
				for (const { orderId, ...decision } of decisions)
					statements.putDecision.run(orderId, JSON.stringify(decision), at);
			});
			// This happens only once it is on disk, because a failed write must not count twice.
			for (const { meter, growth } of grown) if (growth > 0n) spendingOf(meter).add(minute, growth);
		},
		remember: ({ key, digest }, signature) => {
			statements.putSignature.run(signature, key, digest);
		},
		highestNonce: (key) => (statements.nonce.get(key) as { highest: number } | undefined)?.highest,
		decisionsOf: (orderId) =>
			(statements.decisions.all(orderId) as { decision: string }[]).map(
				({ decision }) => JSON.parse(decision) as Decision,
			),
		report: () => {
			const minute = Math.floor(nowMs() / 60_000);
			return [...caps].map(([meter, cap]) => ({ meter, cap, ...spendingOf(meter).sums(minute) }));
		},
		close: () => db.close(),
	};
}

function reasonAt(meter: string): RefusalReason {
	if (isUnprovenMeter(meter)) return "unproven";
	return isKeyMeter(meter) ? keyAboveCap : "above-cap";
}

function openDatabase(path: string): DatabaseSync {
	let db: DatabaseSync | undefined;
	try {
		db = new DatabaseSync(path);
		// The lock is taken with the first write and kept. Every commit waits for the disk.
		db.exec("pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full;");
		db.exec(schema);
		return db;
	} catch (error) {
		db?.close();
		const { message } = error as Error;
		const isBusy = /locked|busy/i.test(message);
		throw new ConfigError(
			path,
			isBusy ? "another signer uses this file: stop it first, or give this one a file of its own" : message,
		);
	}
}

const hourMinutes = 60;
const dayMinutes = 24 * 60;

/** The amounts of one meter by minute. */
type Spending = {
	/** Returns the sums of the last hour and the last day. */
	sums: (minute: number) => { hour: bigint; day: bigint };
	add: (minute: number, amount: bigint) => void;
};

/**
 * Creates the sums of one meter. A window is made of whole minutes and the current one, so it is up to a minute longer
 * than an hour or a day, never shorter.
 */
function createSpending(known: Iterable<readonly [minute: number, amount: bigint]> = []): Spending {
	const minutes = new Map(known);
	const sum = (from: number, now: number) => {
		let total = 0n;
		// Minutes ahead of a clock that was set back count too.
		for (const [minute, amount] of minutes) if (minute >= from || minute > now) total += amount;
		return total;
	};
	return {
		sums: (now) => ({ hour: sum(now - hourMinutes, now), day: sum(now - dayMinutes, now) }),
		add: (minute, amount) => {
			minutes.set(minute, (minutes.get(minute) ?? 0n) + amount);
			for (const old of minutes.keys()) if (old < minute - dayMinutes) minutes.delete(old);
		},
	};
}

/** Returns which window an amount would exceed; undefined if it fits. */
function exceededWindow(
	{ hour, day }: { hour: bigint; day: bigint },
	{ amount, cap }: { amount: bigint; cap: Cap },
): "hour" | "day" | undefined {
	if (hour + amount > cap.perHour) return "hour";
	return day + amount > cap.perDay ? "day" : undefined;
}
