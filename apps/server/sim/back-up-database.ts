import type { Scheduler } from "./scheduler.ts";
import type { SimConnection } from "./sim-connection.ts";

type Backed = {
	/** A connection with the owner's rights and without an open transaction. */
	connection: SimConnection;
	scheduler: Pick<Scheduler, "during" | "nowMs">;
	/** Returns the tables that have rows. */
	filled: () => Promise<string[]>;
};

/**
 * Copies all tables that have rows into the schema `backup`, in place of the previous backup. The copy stays in the same
 * database, because a world has only one connection.
 */
export async function backUpDatabase({ connection, scheduler, filled }: Backed): Promise<void> {
	const some = await scheduler.during(filled());
	const copies = some.map((table) => `create table backup.${table} as table public.${table}`);
	await scheduler.during(
		connection.script(["drop schema if exists backup cascade", "create schema backup", ...copies].join("; ")),
	);
}

/** Replaces the rows of all tables by those of the last backup, and records the restore as the operator's command does. */
export async function restoreDatabase({
	connection,
	scheduler,
	filled,
	tables,
}: Backed & { tables: readonly string[] }): Promise<void> {
	const some = await scheduler.during(filled());
	const { rows } = await scheduler.during(
		connection.script<{ name: string }>(
			"select table_name as name from information_schema.tables where table_schema = 'backup' order by 1",
		),
	);
	const ids = { swap_events: "seq", postings: "id", event_outbox: "id" };
	await scheduler.during(
		connection.script(
			[
				// The triggers already ran when the rows were first written.
				"set session_replication_role = replica",
				...(some.length > 0 ? [`truncate ${some.join(", ")} restart identity cascade`] : []),
				...rows
					.filter(({ name }) => tables.includes(name))
					.map(
						({ name }) => `insert into public.${name} overriding system value select * from backup.${name}`,
					),
				...Object.entries(ids).map(
					([table, id]) =>
						`select setval(pg_get_serial_sequence('${table}', '${id}'), coalesce(max(${id}), 0) + 1, false) from ${table}`,
				),
				"set session_replication_role = origin",
				// As `geoswapd restored` does.
				`insert into restores (at) values ('${new Date(scheduler.nowMs()).toISOString()}') on conflict do nothing`,
			].join("; "),
		),
	);
}
