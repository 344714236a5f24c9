import { once } from "node:events";
import type { Milliseconds } from "@geoswap/protocol";
import { createChainNames } from "../../config/chain-names.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import { readConfig } from "../../config/read-config.ts";
import { dayOf } from "../../money/profit/close-day.ts";
import { decimalsOfBooks, type MissingDay } from "../../money/profit/read-periods.ts";
import { readAsAuditor } from "../swaps/read-as-auditor.ts";
import { formatReport, type GroupKey, reportToJson } from "./format-report.ts";
import { daysFrom, type Range, readPeriods, readReport, yesterdayOf } from "./read-report.ts";
import { writeCsv } from "./write-csv.ts";

const groupKeys = ["pair", "chain", "account", "reason"] as const satisfies readonly GroupKey[];

type ReportOptions = {
	day?: string;
	week?: string;
	today?: boolean;
	by: string;
	json?: boolean;
	csv?: boolean;
	config: string;
};

/** Returns the exit code: 0 if the books of every chain are closed for the range, or it is today; 1 if not. */
export async function reportCommand(
	{ by: byText, json, csv, config: path, ...options }: ReportOptions,
	{
		readFile = readConfig,
		write = writeOut,
		nowMs = Date.now(),
	}: {
		readFile?: (path: string) => Pick<Config, "chains">;
		write?: (text: string) => Promise<void>;
		nowMs?: Milliseconds;
	} = {},
): Promise<number> {
	const by = groupKeys.find((key) => key === byText);
	if (!by) throw new ConfigError("--by", `${byText} is none of ${groupKeys.join(", ")}`);
	if (json && csv) throw new ConfigError("--csv", "cannot be combined with --json");
	const range = rangeOf(options, nowMs);
	const config = readFile(path);
	const chainNames = createChainNames(config);
	if (csv) {
		const decimalsOf = decimalsOfBooks(configuredAssets(config));
		return readAsAuditor(async (db) => {
			const { periods, missing } = await readPeriods(db, { range, decimalsOf });
			await writeCsv(db, { periods, decimalsOf, chainNames, write });
			return exitCodeOf({ range, missing, count: periods.length });
		});
	}
	const report = await readAsAuditor((db) => readReport(db, { range, config }));
	const text = json
		? JSON.stringify(reportToJson(report, { by, chainNames }))
		: formatReport(report, { by, chainNames });
	await write(`${text}\n`);
	return exitCodeOf({ range, missing: report.missing, count: report.periods.length });
}

function rangeOf(
	{ day, week, today }: Pick<ReportOptions, "day" | "week" | "today">,
	nowMs: Milliseconds,
): Range {
	const given = [day !== undefined && "--day", week !== undefined && "--week", today && "--today"].filter(
		(option) => typeof option === "string",
	);
	const [, second] = given;
	if (second) throw new ConfigError(second, `cannot be combined with ${given[0]}`);
	const now = dayOf(nowMs / 1_000);
	if (today) return { kind: "today", day: now };
	if (week !== undefined) {
		const days = daysFrom(parseDay("--week", week), 7).filter((one) => one < now);
		if (days.length === 0) throw new ConfigError("--week", `${week} is not over; use --today`);
		return { kind: "closed", days };
	}
	const parsed = day === undefined ? yesterdayOf(nowMs) : parseDay("--day", day);
	if (parsed >= now) throw new ConfigError("--day", `${parsed} is not over; use --today`);
	return { kind: "closed", days: [parsed] };
}

function parseDay(option: string, text: string): string {
	const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));
	if (isDay && dayOf(Date.parse(`${text}T00:00:00Z`) / 1_000) === text) return text;
	throw new ConfigError(option, `${text} is not a day, as 2026-11-30`);
}

/** Returns the exit code, and prints why it is not 0, because a CSV has no place for that. */
function exitCodeOf({
	range,
	missing,
	count,
}: {
	range: Range;
	missing: readonly MissingDay[];
	count: number;
}): number {
	if (range.kind === "today") return 0;
	if (missing.length === 0 && count > 0) return 0;
	const chains = [...new Set(missing.map(({ chainId }) => chainId))].join(", ");
	console.error(
		chains
			? `error: the books of chain ${chains} are not closed; see docs/runbooks/GeoswapDayDoesNotClose.md`
			: "error: no chain had books then",
	);
	return 1;
}

/** Writes to the standard output, and waits while its reader is slower. */
async function writeOut(text: string): Promise<void> {
	if (!process.stdout.write(text)) await once(process.stdout, "drain");
}
