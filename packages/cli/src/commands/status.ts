import type { StatusResponse } from "@geoswap/protocol";
import { GeoswapError, getStatus, waitForSwap } from "@geoswap/sdk";
import { CliError } from "../cli-error.ts";
import { type Call, type Context, openContext } from "../context.ts";
import { FailedSwap } from "../describe-error.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { openIntents } from "../intents.ts";
import { shellWord } from "../shell-word.ts";
import { createProgress, swapLines } from "../swap-progress.ts";
import { Interrupted, watchInterrupt } from "../watch-interrupt.ts";

export async function statusCommand(
	call: Call,
	{ id: text, wait }: { id: string; wait: boolean },
): Promise<ExitCode> {
	const context = await openContext(call);
	const { config, client, io, output } = context;
	const { swapId, id } = await findSwap(context, text);
	const named = { ...(id !== undefined && { id }) };
	const progress = createProgress(output);
	try {
		const swap: StatusResponse = wait
			? await watchInterrupt(io, (signal) =>
					waitForSwap(client, swapId, { onUpdate: progress.sayStatus, signal }),
				)
			: await getStatus(client, swapId, { waitSeconds: 0 });
		await output.result({ ...named, swap }, swapLines(config.pins, swap));
		if (swap.status === "pending") return exitCode.mayExecute;
		return swap.status === "settled" ? exitCode.done : exitCode.notSettled;
	} catch (error) {
		if (error instanceof Interrupted) {
			const resume = `geoswap status ${swapId}`;
			throw new FailedSwap(
				new CliError("Interrupted. The swap goes on without this program.", {
					code: "INTERRUPTED",
					next: "resume",
					retryable: true,
					section: "resuming",
				}),
				{ id: id ?? swapId, swapId, mayExecute: true, resume },
			);
		}
		// Signed here, and not known there: it may be on its way.
		if (error instanceof GeoswapError && error.code === "SWAP_NOT_FOUND" && id !== undefined)
			throw new FailedSwap(error, { id, swapId, mayExecute: true, resume: resumeCommand(id) });
		throw error;
	}
}

/** The swap of that name, or the one that an intent of that name became. */
async function findSwap({ config }: Context, text: string): Promise<{ swapId: string; id?: string }> {
	if (text.startsWith("swp_")) return { swapId: text };
	const intents = openIntents(config.home);
	if (!(await intents.find(text))) {
		throw new CliError(
			`${text} is neither a swap's id (swp_…) nor an intent that was begun here. See geoswap history, or geoswap history --unfinished`,
			{ code: "UNKNOWN_ID", section: "resuming" },
		);
	}
	const found = await intents.stateOf(text);
	if ("swapId" in found) return { swapId: found.swapId, id: text };
	const isUnreadable = found.state === "unreadable";
	throw new FailedSwap(
		new CliError(
			isUnreadable
				? `The record of ${text} cannot be read. Resume it with the version of geoswap that wrote it.`
				: `${text} has not become a swap: nothing that was signed for it can be used. Begin it again, or leave it.`,
			{
				code: "NOT_SUBMITTED",
				exit: exitCode.refused,
				next: isUnreadable ? "contact_operator" : "resume",
				section: "resuming",
			},
		),
		{ id: text, swapId: undefined, mayExecute: isUnreadable, resume: resumeCommand(text) },
	);
}

function resumeCommand(id: string): string {
	return `geoswap swap --resume ${shellWord(id)}`;
}
