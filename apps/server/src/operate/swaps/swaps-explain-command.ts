import { ConfigError } from "../../config/config-error.ts";
import { readConfig } from "../../config/read-config.ts";
import type { PolicyConfig } from "../../swap/decide/swap-policy.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { describePause } from "../pause/pauses-list-command.ts";
import { type Explanation, explainSwap } from "./explain-swap.ts";
import { findSwaps, parseSwapKey } from "./find-swaps.ts";
import { readAsAuditor } from "./read-as-auditor.ts";
import { describeJob, notFound } from "./swaps-show-command.ts";

const daysBack = 30;

/** Returns the exit code: 0 if the swap was found, 1 if not. Throws if the key names several. */
export async function explainSwapCommand(
	{ key: text, config: path, json }: { key: string; config: string; json?: boolean },
	readFile: (path: string) => PolicyConfig = readConfig,
): Promise<number> {
	const key = parseSwapKey(text);
	const config = readFile(path);
	const explanation = await readAsAuditor(async (db) => {
		const nowMs = Date.now();
		const [id, another] = await findSwaps(db, key, { limit: 2, days: daysBack, nowMs });
		if (another) {
			throw new ConfigError(
				"<key>",
				`${text} names several swaps: \`geoswapd swaps show ${text}\` lists them`,
			);
		}
		const swap = id && (await readSwap(db, id));
		return swap ? explainSwap(db, swap, { config, nowMs }) : undefined;
	});
	if (!explanation) {
		console.error(`error: ${notFound(text, key)}`);
		return 1;
	}
	console.log(json ? JSON.stringify(explanation) : describe(explanation));
	return 0;
}

function describe({ swap, fact, means, pauses, todo, jobs, ...explanation }: Explanation): string {
	const section = (title: string, lines: readonly string[], none?: string) => {
		const shown = lines.length === 0 && none !== undefined ? [none] : lines;
		return shown.length === 0 ? [] : [title, ...shown.map((line) => `  ${line.replaceAll("\n", "\n  ")}`)];
	};
	return [
		`${swap.swapId}  ${swap.status}, stage ${swap.stage}`,
		`${fact}: ${means}`,
		...section("facts", explanation.facts),
		...section(
			"a round would do now",
			explanation.actions,
			fact === "ended" ? undefined : "nothing but wait",
		),
		...section("it waits for", explanation.waitsFor),
		...section("jobs", jobs.map(describeJob)),
		...section(
			"pauses",
			pauses.map((pause) => {
				const effect = pause.holdsUp ? "holds this swap up" : "stops new swaps only; this one goes on";
				return `${describePause(pause)} (${effect})`;
			}),
		),
		...section(
			"you can",
			todo.map(({ what, command }) => (command ? `${what}\n  ${command}` : what)),
			fact === "ended" ? undefined : "do nothing: the service goes on by itself",
		),
	].join("\n");
}
