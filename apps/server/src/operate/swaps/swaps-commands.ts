import { ConfigError } from "../../config/config-error.ts";
import { readConfig } from "../../config/read-config.ts";
import type { Database } from "../../database/database.ts";
import type { PolicyConfig } from "../../swap/decide/swap-policy.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { describePause } from "../pause/pauses-commands.ts";
import { type Explanation, explainSwap } from "./explain-swap.ts";
import { findSwaps, parseSwapKey, type SwapKey } from "./find-swaps.ts";
import { readAsAuditor } from "./read-as-auditor.ts";
import { type Moment, readHistory, type SwapHistory, swapTimeline } from "./read-history.ts";
import { type SwapView, showAmount, type ViewConfig, viewSwap } from "./swap-view.ts";

/** Returns the exit code: 0 if a swap was found, 1 if none was. One swap is shown completely, several as a list. */
export async function showSwapsCommand(
	{
		key: text,
		config: path,
		limit,
		days,
		json,
	}: { key: string; config: string; limit: string; days: string; json?: boolean },
	readFile: (path: string) => ViewConfig = readConfig,
): Promise<number> {
	const key = parseSwapKey(text);
	const config = readFile(path);
	const options = { limit: parseCount("--limit", limit), days: parseCount("--days", days) };
	const { swaps, history } = await readAsAuditor((db) => read(db, config, key, options));
	if (swaps.length === 0) {
		console.error(`error: ${notFound(text, key)}`);
		return 1;
	}
	if (json) {
		console.log(JSON.stringify({ swaps: history ? swaps.map((swap) => ({ ...swap, history })) : swaps }));
	} else {
		const [first] = swaps;
		console.log(first && history ? describeSwap(first, history, config) : listSwaps(swaps));
	}
	return 0;
}

/** Reads the swaps, and also the history if the key names one swap. */
async function read(
	db: Database,
	config: ViewConfig,
	key: SwapKey,
	options: { limit: number; days: number },
): Promise<{ swaps: SwapView[]; history?: SwapHistory }> {
	const ids = await findSwaps(db, key, { ...options, nowMs: Date.now() });
	const swaps: SwapView[] = [];
	let history: SwapHistory | undefined;
	for (const id of ids) {
		const swap = await readSwap(db, id);
		if (!swap) continue;
		swaps.push(viewSwap(swap, config));
		if (ids.length === 1) history = await readHistory(db, swap);
	}
	return { swaps, ...(history && { history }) };
}

/** Returns a text that nothing was found, with a hint where else to search. */
function notFound(text: string, key: SwapKey): string {
	const hints: Record<SwapKey["kind"], string> = {
		swap: "Is AUDITOR_DATABASE_URL the database of the API that gave out this id?",
		hash: "A transaction is known once a worker has signed it, or has followed the chain up to its block.",
		address: `Only some days are searched. \`geoswapd swaps show ${text} --days 365\` searches further back.`,
	};
	return `no swap is known by ${text}. ${hints[key.kind]}`;
}

function parseCount(option: string, text: string): number {
	if (!/^[1-9]\d{0,4}$/.test(text)) throw new ConfigError(option, `${text} is not a number from 1 to 99999`);
	return Number(text);
}

function listSwaps(swaps: readonly SwapView[]): string {
	return swaps
		.map(({ swapId, status, stage, createdAt, terms: { input, output } }) =>
			[swapId, createdAt, `${status} (${stage})`.padEnd(21), `${input.shown} → ${output.shown}`].join("  "),
		)
		.join("\n");
}

function describeSwap(swap: SwapView, history: SwapHistory, { deployment }: ViewConfig): string {
	const { terms, funds, failure } = swap;
	const rows: [string, string][] = [
		["swap", `${swap.swapId}  (${swap.uuid})`],
		["status", `${swap.status}, stage ${swap.stage}${swap.endedAt ? `, ended ${swap.endedAt}` : ""}`],
		...(failure ? [["failure", `${failure.code}: ${failure.message}`] as [string, string]] : []),
		...(swap.givingUp ? [["giving up", swap.givingUp] as [string, string]] : []),
		["order", swap.orderId],
		["account", swap.accountId ?? "none, because the row was rebuilt from the chain"],
		["input", `${terms.input.shown}, worth ${terms.valueUsd} USD`],
		["wallet", terms.wallet],
		["output", `${terms.output.shown} quoted, fee ${terms.feeBps} bps`],
		["minimum", terms.minOutput.shown],
		...(terms.topUp ? [["top-up", terms.topUp.shown] as [string, string]] : []),
		["recipient", terms.recipient],
		["deadlines", `open ${terms.openDeadline}, fill ${terms.fillDeadline}, refund ${terms.refundAfter}`],
		["money", `${showAmount(deployment, funds)}, held by the ${funds.holder}`],
	];
	const events = history.events.map(
		({ name, cause, chainId, blockNumber, isFinal, transactionHash }) =>
			`  ${name}${cause ? ` (${cause})` : ""} on chain ${chainId}, block ${blockNumber}, ${isFinal ? "final" : "not final"}, ${transactionHash}`,
	);
	const jobs = history.jobs.map((job) => `  ${describeJob(job)}`);
	return [
		...rows.map(([title, value]) => `${title.padEnd(10)} ${value}`),
		"timeline",
		...swapTimeline(swap, history).map((moment) => `  ${moment.at.toISOString()}  ${describeMoment(moment)}`),
		"on the chains",
		...(events.length > 0 ? events : ["  nothing yet"]),
		"jobs",
		...(jobs.length > 0 ? jobs : ["  none"]),
	].join("\n");
}

function describeMoment(moment: Moment): string {
	switch (moment.kind) {
		case "fact":
			return `${moment.fact}${moment.givingUp ? `: gives up, ${moment.givingUp}` : ""}`;
		case "transaction": {
			const { kind, chainId, hash, relayer, nonce, attempt, state, blockNumber } = moment.transaction;
			return `${kind} signed by ${relayer} for chain ${chainId}, nonce ${nonce}, attempt ${attempt}: ${state}${blockNumber === null ? "" : ` in block ${blockNumber}`}, ${hash}`;
		}
		case "end":
			return "ended: nothing is left to do";
	}
}

/** Describes a job: its state, its lane, and what went wrong. */
function describeJob(job: SwapHistory["jobs"][number]): string {
	const { kind, chainId, state, failures, reason, lastError, relayer, nonce, updatedAt } = job;
	return [
		`${kind} on chain ${chainId}: ${state} since ${updatedAt.toISOString()}`,
		...(relayer ? [`lane ${relayer}${nonce === null ? "" : `, nonce ${nonce}`}`] : []),
		...(failures > 0 ? [`failures ${failures}`] : []),
		...(reason ? [`refused: ${reason}`] : []),
		...(lastError ? [`last error: ${lastError}`] : []),
	].join(", ");
}

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
				`${text} names several swaps; \`geoswapd swaps show ${text}\` lists them`,
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
			fact === "ended" ? undefined : "do nothing, because the service continues by itself",
		),
	].join("\n");
}
