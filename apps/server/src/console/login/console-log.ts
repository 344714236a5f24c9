import type { Database } from "../../database/database.ts";

type ConsoleAction =
	| "invited"
	| "operator-removed"
	| "registered"
	| "logged-in"
	| "login-refused"
	| "logged-out"
	| "paused"
	| "lifted";

/** A row of the log of what operators did with the console. */
export type ConsoleLogEntry = {
	id: number;
	at: Date;
	/** The operator's name, or the user of a command. Null without a login. */
	actor: string | null;
	/** The login of the database that wrote the row. */
	databaseUser: string;
	action: string;
	detail: string;
	/** Null for a command. */
	address: string | null;
};

export async function writeConsoleLog(
	db: Database,
	{
		actor,
		action,
		detail,
		address,
	}: {
		actor: string | undefined;
		action: ConsoleAction;
		/** One sentence for operators. */
		detail: string;
		address?: string | undefined;
	},
): Promise<void> {
	await db.query("insert into console_log (actor, action, detail, address) values ($1, $2, $3, $4)", [
		actor ?? null,
		action,
		detail,
		address ?? null,
	]);
}

/** Returns rows, newest first. */
export async function readConsoleLog(
	db: Database,
	{ before, limit }: { before?: number | undefined; limit: number },
): Promise<ConsoleLogEntry[]> {
	const { rows } = await db.query<ConsoleLogEntry>(
		`select id, at, actor, database_user as "databaseUser", action, detail, address from console_log
		where $1::bigint is null or id < $1 order by id desc limit $2`,
		[before ?? null, limit],
	);
	return rows;
}
