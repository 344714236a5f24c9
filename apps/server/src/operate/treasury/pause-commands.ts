import { pauseTreasury, resumeTreasury, type TreasuryPause } from "../../money/move/treasury-pause.ts";
import { checkName } from "../check-name.ts";
import { withDatabase } from "../with-database.ts";

type PauseOptions = { by: string; reason: string; json?: boolean };

/** Pauses the treasury. Succeeds also if it is paused already, because a person who repeats this in haste has it. */
export async function pauseCommand({ by, reason, json }: PauseOptions): Promise<void> {
	const name = checkName("--by", by);
	const { pause, isNew } = await withDatabase((pool) => pauseTreasury(pool, { by: name, reason }));
	if (json) console.log(JSON.stringify({ paused: pause, isNew }));
	else if (isNew) console.log("the treasury is paused; what is between two chains still arrives");
	else console.log(`it was paused already: ${describePause(pause)}`);
}

/** Returns the exit code: 0 if the treasury goes on, 1 if it was not paused. */
export async function resumeCommand({ by, reason, json }: PauseOptions): Promise<number> {
	const name = checkName("--by", by);
	const ended = await withDatabase((pool) => resumeTreasury(pool, { by: name, reason }));
	if (json) console.log(JSON.stringify({ paused: null, ended: ended ?? null }));
	else if (ended) console.log(`no longer: ${describePause(ended)}`);
	if (!ended) console.error("error: the treasury is not paused");
	return ended ? 0 : 1;
}

export function describePause({ at, by, reason }: TreasuryPause): string {
	return `the treasury is paused since ${at.toISOString()} by ${by}: ${reason}. Its keys start no move`;
}
