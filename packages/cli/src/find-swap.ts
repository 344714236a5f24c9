import { fromSwapId } from "@geoswap/protocol";
import { GeoswapError } from "@geoswap/sdk";
import { CliError } from "./cli-error.ts";
import { FailedSwap } from "./describe-error.ts";
import { exitCode } from "./exit-code.ts";
import { type Intents, inProgress, resumeCommand } from "./intents.ts";

/** A swap's id, and the id of its intent if it was begun on this machine. */
export type FoundSwap = { swapId: string; id?: string | undefined };

/** Returns the swap with that id, or the swap of the intent with that id. */
export async function findSwap(intents: Intents, text: string): Promise<FoundSwap> {
	if (fromSwapId(text) !== undefined) return { swapId: text, id: (await intents.idsBySwap()).get(text) };
	if (!(await intents.find(text))) {
		throw unknownId(`${text} is neither a swap's id (swp_…) nor an intent that was started on this machine.`);
	}
	const found = await intents.stateOf(text);
	if ("swapId" in found) return { swapId: found.swapId, id: text };
	const isUnreadable = found.state === "unreadable";
	const isWorking = found.state === "working";
	throw new FailedSwap(isWorking ? inProgress(text) : notSubmitted(text, isUnreadable), {
		id: text,
		swapId: undefined,
		resume: resumeCommand(text),
		mayExecute: isWorking || isUnreadable,
	});
}

/**
 * Returns the error to throw if the service refuses a call about the swap. An id that the service does not have, and
 * that was not signed on this machine, is most likely mistyped.
 */
export function refusalAbout({ swapId, id }: FoundSwap, error: unknown): unknown {
	const isUnknown = error instanceof GeoswapError && error.code === "SWAP_NOT_FOUND";
	if (!isUnknown || id !== undefined) return error;
	return unknownId(
		`The service has no swap ${swapId} in this account, and it was not signed on this machine. If another machine signed it, follow it there.`,
	);
}

function unknownId(problem: string): CliError {
	return new CliError(
		`${problem} Check the id, or list the swaps with geoswap history or geoswap history --unfinished.`,
		{ code: "UNKNOWN_ID", section: "resuming" },
	);
}

function notSubmitted(id: string, isUnreadable: boolean): CliError {
	return new CliError(
		isUnreadable
			? `The record of ${id} cannot be read. Resume it with the version of geoswap that wrote it.`
			: `${id} did not become a swap, and nothing that was signed for it can be executed. Start it again, or leave it.`,
		{
			code: "NOT_SUBMITTED",
			exit: exitCode.refused,
			next: isUnreadable ? "contact_operator" : "resume",
			section: "resuming",
		},
	);
}
