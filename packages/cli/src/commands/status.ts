import { swapStatuses } from "@geoswap/protocol";
import { type Client, GeoswapError, getStatus, type Swap, waitForSwap } from "@geoswap/sdk";
import { CliError } from "../cli-error.ts";
import { homeOf } from "../config.ts";
import { type Call, openConfig, openContext } from "../context.ts";
import { FailedSwap } from "../describe-error.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { findSwap, refusalAbout } from "../find-swap.ts";
import { openIntents, resumeCommand } from "../intents.ts";
import { shellCommand } from "../shell-command.ts";
import { createProgress, swapLines } from "../swap-progress.ts";
import { Interrupted, unlessInterrupted } from "../watch-interrupt.ts";

/** Requests a swap's status until it can be shown. */
type Ask = (
	client: Client,
	swapId: string,
	options: { onUpdate: (swap: Swap) => void; signal: AbortSignal },
) => Promise<Swap>;

export function statusCommand(call: Call, { id, wait }: { id: string; wait: boolean }): Promise<ExitCode> {
	return showSwap(call, {
		id,
		ask: wait
			? waitForSwap
			: (client, swapId, { signal }) => getStatus(client, swapId, { waitSeconds: 0, signal }),
	});
}

/** Shows the swap with that id, or the swap of the intent with that id. Returns the exit code of its status. */
export async function showSwap(call: Call, { id: text, ask }: { id: string; ask: Ask }): Promise<ExitCode> {
	const intents = openIntents(homeOf(call.io));
	// This call cannot be interrupted, because the swap that it finds decides how an interruption is reported.
	const found = await findSwap(intents, text);
	const { swapId, id } = found;
	const ended = id === undefined ? undefined : await intents.findEnd(id);
	try {
		const { config } = await openConfig(call);
		const swap = ended ?? (await requestService(call, { swapId, ask }));
		await call.output.result({ ...(id !== undefined && { id }), swap }, swapLines(config.pins, swap));
		if (swap.status === "pending") return exitCode.mayExecute;
		return swap.status === "settled" ? exitCode.done : exitCode.notSettled;
	} catch (thrown) {
		if (ended) throw thrown;
		const error = refusalAbout(found, thrown);
		if (error !== thrown) throw error;
		// There is, or may be, a swap of that id. A service that does not have it may have been restored from a backup.
		throw new FailedSwap(error instanceof Interrupted ? interrupted() : error, {
			id: id ?? swapId,
			swapId,
			mayExecute: true,
			resume: id === undefined ? shellCommand("geoswap", "status", swapId) : resumeCommand(id),
		});
	}
}

async function requestService(call: Call, { swapId, ask }: { swapId: string; ask: Ask }): Promise<Swap> {
	const { output, signal } = call;
	const { client, config } = await unlessInterrupted(signal, openContext(call));
	const progress = createProgress(output);
	const silence = progress.watchSilence(config.baseUrl);
	const onUpdate = (swap: Swap) => {
		silence.heard();
		progress.sayStatus(swap);
	};
	try {
		const swap = await ask(client, swapId, { onUpdate, signal });
		if (swap.swapId === swapId && swapStatuses.includes(swap.status)) return swap;
		throw notItsAnswer(config.baseUrl);
	} finally {
		silence.stop();
	}
}

function interrupted(): CliError {
	return new CliError("Interrupted. The swap goes on without this program.", {
		code: "INTERRUPTED",
		next: "resume",
		retryable: true,
		section: "resuming",
	});
}

function notItsAnswer(baseUrl: string): GeoswapError {
	return new GeoswapError(
		`${baseUrl} did not answer with the status of that swap. Another server may be answering, so check the address.`,
		{
			code: "UNEXPECTED_RESPONSE",
			next: "contact_operator",
			retryable: false,
			docs: "/docs/cli.md#resuming",
		},
	);
}
