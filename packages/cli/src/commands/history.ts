import { type SwapStatus, swapStatuses } from "@geoswap/protocol";
import { type Client, getStatus, listSwaps } from "@geoswap/sdk";
import { CliError } from "../cli-error.ts";
import { type Call, openContext } from "../context.ts";
import { type IntentState, openIntents } from "../intents.ts";
import type { Line } from "../output.ts";
import { shellWord } from "../shell-word.ts";
import { describeFunds } from "../swap-progress.ts";

export async function historyCommand(
	call: Call,
	{
		limit,
		cursor,
		status,
		unfinished,
	}: { limit: string; cursor?: string; status?: string; unfinished?: boolean },
): Promise<void> {
	if (unfinished) return listUnfinished(call);
	if (!/^([1-9]\d?|100)$/.test(limit))
		throw wrong(`--limit is a whole number from 1 to 100, not "${limit}".`);
	if (status !== undefined && !isStatus(status))
		throw wrong(`--status is one of ${swapStatuses.join(", ")}, not "${status}".`);
	const { config, client, output } = await openContext(call);
	const page = await listSwaps(client, {
		limit: Number(limit),
		...(cursor !== undefined && { cursor }),
		...(status !== undefined && { status }),
	});
	const ids = await idsBySwap(config.home);
	const swaps = page.swaps.map((swap) => ({
		...swap,
		...(ids.has(swap.swapId) && { id: ids.get(swap.swapId) }),
	}));
	await output.result({ ...page, swaps }, [
		...(swaps.length === 0 ? ["no swaps on this page"] : []),
		...swaps.flatMap((swap): Line[] => [
			`${swap.createdAt.slice(0, 16).replace("T", " ")}  ${swap.status.padEnd(8)}  ${swap.swapId}`,
			`${" ".repeat(18)}${describeFunds(config.pins, swap.funds)}, with the ${swap.funds.holder}`,
			...(swap.id === undefined ? [] : [`${" ".repeat(18)}id ${swap.id}`]),
		]),
		...(page.nextCursor === undefined ? [] : [["more", `--cursor ${page.nextCursor}`] satisfies Line]),
	]);
}

/** What a crash may have left: signed on this machine, and not known to have ended. */
async function listUnfinished(call: Call): Promise<void> {
	const { config, client } = await openContext(call);
	const intents = openIntents(config.home);
	const found = await Promise.all(
		(await intents.list()).map(async ({ version: _, ...intent }) => {
			const state = await intents.stateOf(intent.id);
			// What was never signed, or is dead, can become no swap.
			const isOver = state.state === "none" || state.state === "open" || (await hasEnded(client, state));
			return isOver ? [] : [{ ...intent, ...state, resume: `geoswap swap --resume ${shellWord(intent.id)}` }];
		}),
	);
	const unfinished = found.flat();
	await call.output.result({ unfinished }, [
		...(unfinished.length === 0 ? ["nothing that was begun here may still execute"] : []),
		...unfinished.flatMap((one): Line[] => [
			`${one.createdAt.slice(0, 16).replace("T", " ")}  ${one.state}`,
			`${" ".repeat(18)}${one.resume}`,
		]),
	]);
}

/** A swap that was followed to its end by its own id has no end in the record. */
async function hasEnded(client: Client, state: IntentState): Promise<boolean> {
	if (!("swapId" in state)) return false;
	if (state.state === "ended") return true;
	const swap = await getStatus(client, state.swapId, { waitSeconds: 0 }).catch(() => undefined);
	return swap !== undefined && swap.status !== "pending";
}

async function idsBySwap(home: string): Promise<Map<string, string>> {
	const intents = openIntents(home);
	const pairs = await Promise.all(
		(await intents.list()).map(async ({ id }): Promise<[string, string][]> => {
			const found = await intents.stateOf(id);
			return "swapId" in found ? [[found.swapId, id]] : [];
		}),
	);
	return new Map(pairs.flat());
}

function isStatus(text: string): text is SwapStatus {
	return (swapStatuses as readonly string[]).includes(text);
}

function wrong(message: string): CliError {
	return new CliError(message, { code: "USAGE", section: "history" });
}
