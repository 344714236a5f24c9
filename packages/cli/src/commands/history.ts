import { isTerminal, type SwapStatus, swapStatuses } from "@geoswap/protocol";
import { type Client, getStatus, listSwaps } from "@geoswap/sdk";
import { CliError } from "../cli-error.ts";
import { type Call, openContext } from "../context.ts";
import { type IntentState, mayExecute, openIntents, resumeCommand } from "../intents.ts";
import type { Line } from "../output.ts";
import { shellCommand } from "../shell-command.ts";
import { describeFunds, describeSwap } from "../swap-progress.ts";

export async function historyCommand(
	call: Call,
	{
		limit,
		cursor,
		status,
		wallet,
		from,
		to,
		unfinished,
	}: {
		limit: string;
		cursor?: string;
		status?: string;
		wallet?: string;
		from?: string;
		to?: string;
		unfinished?: boolean;
	},
): Promise<void> {
	if (unfinished) return listUnfinished(call);
	if (!/^([1-9]\d?|100)$/.test(limit))
		throw wrong(`--limit must be a whole number from 1 to 100, not "${limit}".`);
	if (status !== undefined && !isStatus(status))
		throw wrong(`--status must be one of ${swapStatuses.join(", ")}, not "${status}".`);
	const filters = {
		...(status !== undefined && { status }),
		...(wallet !== undefined && { wallet }),
		...(from !== undefined && { from: timeOf("--from", from) }),
		...(to !== undefined && { to: timeOf("--to", to) }),
	};
	const { config, client, output } = await openContext(call);
	const page = await listSwaps(client, {
		limit: Number(limit),
		...(cursor !== undefined && { cursor }),
		...filters,
	});
	const ids = await openIntents(config.home).idsBySwap();
	const swaps = page.swaps.map((swap) => ({
		...swap,
		...(ids.has(swap.swapId) && { id: ids.get(swap.swapId) }),
	}));
	await output.result({ ...page, swaps }, [
		...(swaps.length === 0 ? ["no swaps on this page"] : []),
		...swaps.flatMap((swap): Line[] => [
			`${swap.createdAt.slice(0, 16).replace("T", " ")}  ${swap.status.padEnd(8)}  ${swap.swapId}`,
			...[describeSwap(config.pins, swap), describeFunds(config.pins, swap.funds)].flatMap((text) =>
				text === undefined ? [] : [`${" ".repeat(18)}${text}`],
			),
			...(swap.id === undefined ? [] : [`${" ".repeat(18)}id ${swap.id}`]),
		]),
		...(page.nextCursor === undefined
			? []
			: [
					{
						label: "more",
						command: shellCommand(
							...["geoswap", "history", "--limit", limit],
							...Object.entries(filters).flatMap(([name, value]) => [`--${name}`, value]),
							// Cursor and option are one word, so that a cursor that begins with a dash is not parsed as an option.
							`--cursor=${page.nextCursor}`,
						),
					} satisfies Line,
				]),
	]);
}

/** Lists what a crash may have left: intents signed here, or about to be, and not known to have ended. */
async function listUnfinished(call: Call): Promise<void> {
	const { config, client } = await openContext(call);
	const intents = openIntents(config.home);
	const listed = await intents.list();
	const found = await Promise.all(
		listed.intents.map(async ({ version: _, ...intent }) => {
			const state = await intents.stateOf(intent.id);
			const isOver = !mayExecute(state) || (await hasEnded(client, state));
			return isOver ? [] : [{ ...intent, ...state, resume: resumeCommand(intent.id) }];
		}),
	);
	const unfinished = found.flat();
	const { unreadable } = listed;
	const isNothing = unfinished.length === 0 && unreadable.length === 0;
	await call.output.result({ unfinished, unreadable }, [
		...(isNothing ? ["no intent that was started on this machine may still execute"] : []),
		...unfinished.flatMap((one): Line[] => [
			`${one.createdAt.slice(0, 16).replace("T", " ")}  ${one.state}`,
			{ label: "", command: one.resume },
		]),
		...unreadable.map((path): Line => ["unreadable", `${path}: its intent may still execute`]),
	]);
}

/** Calls the service, because the record lacks the end of a swap that was followed by the swap's own id. */
async function hasEnded(client: Client, state: IntentState): Promise<boolean> {
	if (!("swapId" in state)) return false;
	const swap = await getStatus(client, state.swapId, { waitSeconds: 0 }).catch(() => undefined);
	// A proxy may respond instead of the service, with anything.
	return swap?.swapId === state.swapId && isStatus(swap.status) && isTerminal(swap.status);
}

/** Returns the time in UTC, as the service accepts it. A date alone means its beginning in UTC. */
function timeOf(option: string, text: string): string {
	const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
	const timeMs = isTime ? Date.parse(text) : Number.NaN;
	if (Number.isNaN(timeMs))
		throw wrong(`${option} must be a date or a time with its zone, like 2026-06-01 or 2026-06-01T12:00:00Z.`);
	return new Date(timeMs).toISOString();
}

function isStatus(text: string): text is SwapStatus {
	return (swapStatuses as readonly string[]).includes(text);
}

function wrong(message: string): CliError {
	return new CliError(message, { code: "USAGE", section: "history" });
}
