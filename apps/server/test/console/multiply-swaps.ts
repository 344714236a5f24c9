import type { DatabasePool } from "../../src/database/database.ts";

/**
 * Copies every swap that has ended, with its history, events and transactions, under new ids and some minutes
 * later. The rows are those that the real code wrote; only ids, hashes and times differ.
 */
export async function multiplySwaps(owner: DatabasePool, { times }: { times: number }): Promise<void> {
	for (let copy = 1; copy < times; copy++) {
		const salt = `'\\x${copy.toString(16).padStart(2, "0")}'::bytea`;
		const later = `interval '${copy * 379} seconds'`;
		// The first 48 bits of an id are its time in milliseconds.
		const newId = `(lpad(to_hex(('x0000' || left(replace(o.id::text, '-', ''), 12))::bit(64)::bigint + ${copy * 379_000}), 12, '0')
			|| '7' || left(md5(o.id::text || '${copy}'), 3) || 'a' || right(md5(o.id::text || '${copy}'), 15))::uuid`;
		const columns = await columnsOf(owner, "swaps");
		await owner.query(`drop table if exists copies`);
		await owner.query(
			`create table copies as select o.id, ${newId} as copy_id, o.order_id,
				sha256(o.order_id || ${salt}) as copy_order
			from swaps o where o.ended_at is not null
				and not exists (select from swap_events e where e.swap_id = o.id and e.fact = 'copied')`,
		);
		await copyRows(owner, {
			table: "swaps",
			columns,
			changed: {
				id: "c.copy_id",
				order_id: "c.copy_order",
				created_at: `created_at + ${later}`,
				updated_at: `updated_at + ${later}`,
				ended_at: `ended_at + ${later}`,
			},
			join: "c.id = o.id",
		});
		await copyRows(owner, {
			table: "swap_events",
			columns: ["swap_id", "at", "fact", "data"],
			changed: { swap_id: "c.copy_id", at: `at + ${later}` },
			join: "c.id = o.swap_id",
		});
		await owner.query(
			"insert into swap_events (swap_id, at, fact) select copy_id, now(), 'copied' from copies",
		);
		await copyRows(owner, {
			table: "chain_events",
			columns: await columnsOf(owner, "chain_events"),
			changed: {
				order_id: "c.copy_order",
				log_index: `log_index + ${copy * 1_000_000}`,
				transaction_hash: hashed("o.transaction_hash", salt),
			},
			join: "c.order_id = o.order_id",
		});
		await copyRows(owner, {
			table: "lane_transactions",
			columns: await columnsOf(owner, "lane_transactions"),
			changed: {
				nonce: `nonce + ${copy * 1_000_000}`,
				hash: hashed("o.hash", salt),
				jobs: "replace(jobs::text, c.id::text, c.copy_id::text)::jsonb",
				created_at: `created_at + ${later}`,
			},
			join: "o.jobs @> jsonb_build_array(jsonb_build_object('swapId', c.id))",
		});
	}
	await owner.query("delete from swap_events where fact = 'copied'");
	await owner.query("drop table if exists copies");
}

async function columnsOf(owner: DatabasePool, table: string): Promise<string[]> {
	const { rows } = await owner.query<{ name: string }>(
		`select attname::text as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped
		order by attnum`,
		[table],
	);
	return rows.map(({ name }) => name);
}

async function copyRows(
	owner: DatabasePool,
	{
		table,
		columns,
		changed,
		join,
	}: { table: string; columns: readonly string[]; changed: Record<string, string>; join: string },
): Promise<void> {
	const values = columns.map(
		(name) => changed[name]?.replace(new RegExp(`(?<![.\\w])${name}\\b`), `o.${name}`) ?? `o.${name}`,
	);
	await owner.query(
		`insert into ${table} (${columns.join(", ")}) select ${values.join(", ")} from ${table} o join copies c on ${join}`,
	);
}

/** On Solana a transaction is identified by 64 bytes. */
function hashed(column: string, salt: string): string {
	return `case length(${column}) when 64 then sha512(${column} || ${salt}) else sha256(${column} || ${salt}) end`;
}
