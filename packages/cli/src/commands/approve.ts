import { askAccept } from "../ask-accept.ts";
import { CliError } from "../cli-error.ts";
import { homeOf } from "../config.ts";
import type { Call } from "../context.ts";
import { exitCode } from "../exit-code.ts";
import { openQuestionFiles } from "../mcp/outside-approvals.ts";
import { intentIdOf } from "../mcp/swap-runner.ts";

/** Shows the terms of a swap that a model has requested, and approves it once the user accepts on a terminal. */
export async function approveCommand(
	{ io, output, signal }: Call,
	{ id, decline = false }: { id: string; decline?: boolean },
): Promise<void> {
	const files = openQuestionFiles(homeOf(io));
	const intentId = intentIdOf(id);
	const question = await files.find(intentId);
	const answered = question && (await files.findAnswer(intentId))?.nonce === question.nonce;
	if (!question || answered || Date.parse(question.expiresAt) < Date.now()) {
		throw new CliError(
			`No swap ${id} waits for an approval. It was answered, or its 15 minutes are over. Let the model call swap again.`,
			{ code: "UNKNOWN_ID", section: "mcp" },
		);
	}
	if (!decline && (!io.isInteractive || output.isJson)) {
		throw new CliError(
			"An approval needs a terminal, so that a program cannot give it in your place. Run this command in one, without --json.",
			{
				code: "USAGE",
				section: "mcp",
			},
		);
	}
	for (const line of question.text.split("\n").slice(1)) output.say(line);
	const isApproved = !decline && (await askAccept("Approve this swap?", signal));
	signal.throwIfAborted();
	await files.answer(intentId, { nonce: question.nonce, approve: isApproved });
	await output.result({ id, approved: isApproved }, [
		isApproved ? "approved; the swap goes on" : "declined; nothing is swapped",
	]);
	if (!isApproved && !decline) {
		throw new CliError(
			"You did not approve the swap, so nothing is swapped. If you want it after all, let the model call swap again.",
			{
				code: "APPROVAL_DECLINED",
				exit: exitCode.refused,
				section: "mcp",
				mayExecute: false,
			},
		);
	}
}
