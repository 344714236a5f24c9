import type { Database } from "../../database/database.ts";
import type { Named, Row } from "../../database/rows.ts";

/** A pause of the treasury: its keys start no move. What is between two chains still arrives. */
export type TreasuryPause = { at: Date; by: string; reason: string };

const pauseColumns = "paused_at, paused_by, reason";

/** Pauses the treasury. Returns the pause, which is an earlier one if it was paused already. */
export async function pauseTreasury(
	db: Database,
	{ by, reason }: { by: string; reason: string },
): Promise<{ pause: TreasuryPause; isNew: boolean }> {
	const { rowCount } = await db.query(
		"insert into treasury_pauses (paused_by, reason) values ($1, $2) on conflict do nothing",
		[by, reason],
	);
	const pause = await readTreasuryPause(db);
	if (!pause) throw new Error("the treasury was resumed at the same time; pause it again");
	return { pause, isNew: rowCount === 1 };
}

/** Ends the pause, and returns it. Returns undefined if the treasury is not paused. */
export async function resumeTreasury(
	db: Database,
	{ by, reason }: { by: string; reason: string },
): Promise<TreasuryPause | undefined> {
	const { rows } = await db.query<PauseRow>(
		`update treasury_pauses set resumed_at = now(), resumed_by = $1, resume_reason = $2 where resumed_at is null
		returning ${pauseColumns}`,
		[by, reason],
	);
	return rows[0] && pauseOfRow(rows[0]);
}

/** Returns the pause that is not ended, or undefined if the treasury is not paused. */
export async function readTreasuryPause(db: Database): Promise<TreasuryPause | undefined> {
	const { rows } = await db.query<PauseRow>(
		`select ${pauseColumns} from treasury_pauses where resumed_at is null`,
	);
	return rows[0] && pauseOfRow(rows[0]);
}

type PauseRow = Row<"treasury_pauses", Named<typeof pauseColumns>>;

function pauseOfRow({ paused_at, paused_by, reason }: PauseRow): TreasuryPause {
	return { at: paused_at, by: paused_by, reason };
}
