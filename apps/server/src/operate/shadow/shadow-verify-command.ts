import { readJournal } from "./journal-file.ts";
import { verifyJournal } from "./verify-journal.ts";

/** Returns the exit code: 0 if the sums are equal, 1 if they differ, 3 if the day was not ended, so it has no report. */
export async function shadowVerifyCommand(
	path: string,
	{ json = false }: { json?: boolean },
): Promise<number> {
	const { recomputed, report, differences } = verifyJournal(await readJournal(path));
	if (json) {
		const { netE18, earnedE18, feesE18, volumeE18, filled } = recomputed;
		const sums = { netE18, earnedE18, feesE18, volumeE18 };
		const texts = Object.fromEntries(Object.entries(sums).map(([name, value]) => [name, String(value)]));
		console.log(JSON.stringify({ isEnded: report !== undefined, filled, ...texts, differences }));
	} else {
		for (const difference of differences) console.log(difference);
		if (!report) console.log("The journal has no report: its day was not ended. Nothing was compared.");
		else if (differences.length === 0) {
			console.log(
				`The books agree with the recorded prices to the unit: net ${recomputed.netE18} with 18 decimals of a dollar, ${recomputed.filled} swaps filled.`,
			);
		}
	}
	return differences.length > 0 ? 1 : report ? 0 : 3;
}
