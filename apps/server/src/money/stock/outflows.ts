import type { Amount } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";

const minutesPerHour = 60;

/** Adds what left the vault at this time, in seconds. It stays counted if the chain drops it: that is the safe side. */
export async function addOutflows(
	db: Database,
	{
		chainId,
		timestamp,
		outflows,
	}: { chainId: number; timestamp: number; outflows: readonly { token: Hex; amount: Amount }[] },
): Promise<void> {
	if (outflows.length === 0) return;
	const minute = minuteOf(timestamp);
	await db.query(
		`insert into outflows (chain_id, minute, token, amount)
		select $1, $2, token, sum(amount) from unnest($3::bytea[], $4::numeric[]) as o (token, amount) group by token
		on conflict (chain_id, minute, token) do update set amount = outflows.amount + excluded.amount`,
		[chainId, minute, outflows.map(({ token }) => hexToBytes(token)), outflows.map(({ amount }) => amount)],
	);
	await db.query("delete from outflows where chain_id = $1 and minute < $2", [
		chainId,
		minute - minutesPerHour,
	]);
}

/** Returns, by token, what left the vault in the hour before this time. */
export async function readOutflows(
	db: Database,
	{ chainId, timestamp }: { chainId: number; timestamp: number },
): Promise<Map<Hex, bigint>> {
	const { rows } = await db.query<{ token: Buffer; amount: Amount }>(
		"select token, sum(amount) as amount from outflows where chain_id = $1 and minute >= $2 group by token",
		[chainId, minuteOf(timestamp) - minutesPerHour],
	);
	return new Map(rows.map(({ token, amount }) => [bytesToHex(token), amount]));
}

/** Returns, by token, what is reserved for fills that were signed and have not been seen on the chain. */
export async function readPaymentsUnderWay(db: Database, chainId: number): Promise<Map<Hex, bigint>> {
	const { rows } = await db.query<{ token: Buffer; amount: Amount }>(
		`select token, sum(amount) as amount from jobs join reservations using (swap_id, chain_id)
		where chain_id = $1 and kind = 'fill' and state = 'sent' group by token`,
		[chainId],
	);
	return new Map(rows.map(({ token, amount }) => [bytesToHex(token), amount]));
}

/** Waits until no other transaction counts what may leave the vault, and keeps others from it until this one ends. */
export async function lockOutflows(db: Database, chainId: number): Promise<void> {
	await db.query("select pg_advisory_xact_lock(hashtextextended('outflows:' || $1, 0))", [String(chainId)]);
}

function minuteOf(timestamp: number): number {
	return Math.floor(timestamp / 60);
}
