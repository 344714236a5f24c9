import { GeoswapError, type OriginSigner, type SwapProgress, stableFloor, swap } from "@geoswap/sdk";
import { askAccept } from "./ask-accept.ts";
import { CliError } from "./cli-error.ts";
import type { Context } from "./context.ts";
import { assetJson, giveLines, showNative } from "./cost-lines.ts";
import { FailedSwap } from "./describe-error.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { wholeTokens } from "./format-amount.ts";
import { type Intent, type IntentState, type Intents, mayExecute, resumeCommand } from "./intents.ts";
import { openPage } from "./open-page.ts";
import type { Output } from "./output.ts";
import { type Asset, findAsset } from "./pinned-assets.ts";
import { belowMinOutput, priceNotAccepted, reasonToAsk } from "./price-not-accepted.ts";
import { topUpToSign } from "./read-terms.ts";
import { refusalInTokens } from "./refusal-in-tokens.ts";
import { createProgress, swapLines } from "./swap-progress.ts";
import { Interrupted } from "./watch-interrupt.ts";

/** A stored intent, the wallet that signs for it, and whether any price is accepted without a prompt. */
export type SwapJob = { intent: Intent; signer: OriginSigner; acceptsAnyPrice: boolean };

/**
 * Executes a stored intent, whose lock the caller holds, and prints its progress and its result. Throws a `FailedSwap`
 * if the swap did not end, which states whether it may still execute and how to resume it.
 */
export async function executeSwap(
	context: Context,
	{
		intents,
		intent,
		signer,
		acceptsAnyPrice,
		opensPage,
	}: SwapJob & {
		intents: Intents;
		/** True if the swap's page is to be opened in the browser. */
		opensPage: boolean;
	},
): Promise<ExitCode> {
	const { config, client, io, output, signal } = context;
	const { id } = intent;
	const from = assetOf(config, intent.originChain, intent.inputToken);
	const to = assetOf(config, intent.destinationChain, intent.outputToken);
	const amount = BigInt(intent.amount);
	const isExactOutput = intent.outputAmount !== undefined;
	// The id is shown before anything is signed, so that the caller can resume if the process is killed.
	output.say(["id", id]);
	const given = { from, amount, isMost: isExactOutput, wallet: intent.walletAddress };
	for (const line of giveLines(given)) output.say(line);

	const reached: Reached = {};
	let page: Promise<string | undefined> | undefined;
	const progress = createProgress(output);
	const canAsk = io.isInteractive && !output.isJson;
	let silence = progress.watchSilence(config.baseUrl);
	try {
		const ended = await swap(client, {
			id,
			originChain: intent.originChain,
			destinationChain: intent.destinationChain,
			inputToken: intent.inputToken,
			outputToken: intent.outputToken,
			...(intent.outputAmount === undefined
				? { amount }
				: { outputAmount: BigInt(intent.outputAmount), maxInput: amount }),
			...(intent.recipient !== undefined && { recipient: intent.recipient }),
			...(intent.slippageBps !== undefined && { slippageBps: intent.slippageBps }),
			...topUpToSign(intent),
			...(intent.minOutput !== undefined && { minOutput: BigInt(intent.minOutput) }),
			...((acceptsAnyPrice || canAsk) && {
				onBeforeSign: async ({ minOutput }) => {
					const floor = stableFloor(config.pins, intent);
					const isBounded =
						isExactOutput || intent.minOutput !== undefined || (floor !== undefined && minOutput >= floor);
					if (acceptsAnyPrice || isBounded) return true;
					// Nothing else is written into the question while the user answers it.
					silence.stop();
					const least = wholeTokens(minOutput, to);
					const isAccepted = await askAccept(
						`Sign for at least ${least}? You are asked because ${reasonToAsk(to, floor?.toString())}.`,
						signal,
					);
					signal.throwIfAborted();
					silence = progress.watchSilence(config.baseUrl);
					return isAccepted;
				},
			}),
			signer,
			pins: config.pins,
			store: intents.records,
			onProgress: (step) => {
				silence.heard();
				note(reached, step);
				if (opensPage && reached.isSubmitted && reached.swapId) page ??= openPage(context, reached.swapId);
				tell(output, progress, { to, step });
			},
			signal,
		});
		const url = await page;
		await output.result(
			{
				id,
				from: {
					...assetJson(from),
					amount: isExactOutput ? (ended.terms?.amount ?? amount) : amount,
					wallet: intent.walletAddress,
				},
				to: assetJson(to),
				swap: ended,
				...(url !== undefined && { page: url }),
			},
			swapLines(config.pins, ended),
		);
		return ended.status === "settled" ? exitCode.done : exitCode.notSettled;
	} catch (error) {
		throw failed(inWholeTokens(refusalInTokens(error, from, isExactOutput ? to : from), to), {
			id,
			reached,
			record: await intents.recordOf(id),
		});
	} finally {
		silence.stop();
	}
}

/** How far the swap came, for the error if it ends early. */
type Reached = { swapId?: string; isAuthorizing?: boolean; isSubmitted?: boolean };

function note(reached: Reached, step: SwapProgress): void {
	if (step.step === "authorizing") reached.isAuthorizing = true;
	if (step.step === "signed" || step.step === "resumed" || step.step === "submitted")
		reached.swapId = step.swapId;
	if (step.step === "submitted" || step.step === "status") reached.isSubmitted = true;
}

function tell(
	output: Output,
	{ say, sayStatus }: ReturnType<typeof createProgress>,
	{ to, step }: { to: Asset; step: SwapProgress },
): void {
	switch (step.step) {
		case "resumed":
			say(`resuming ${step.swapId}`);
			break;
		case "quoted": {
			const { output: expected, minOutput, topUp = 0n, recipient, warnings = [] } = step.quote;
			const shown = (units: bigint) => wholeTokens(units, to);
			say(`quoted: about ${shown(expected)} on ${to.chain.name}, at least ${shown(minOutput)}`);
			if (topUp > 0n) output.say(["", `and ${showNative(to.chain, topUp)} for gas`]);
			output.say(["", `token ${to.address}`]);
			output.say(["", `recipient ${recipient}`]);
			for (const { code, message } of warnings) say(`${code}: ${message}`, "yellow");
			break;
		}
		case "authorizing":
			say("authorizing: this swap delegates the wallet on this chain");
			break;
		case "signed":
			say("verified and signed");
			break;
		case "refused":
			// The error's message is not shown, because its advice to begin again is for callers that have sent nothing yet.
			say(`not accepted yet (${step.error.code}), retrying until ${step.expiresAt}`, "yellow");
			break;
		case "waiting":
			say(`the service reports that it is over; waiting until no chain can execute it, at ${step.until}`);
			break;
		case "submitted":
			say(`submitted ${step.swapId}`);
			break;
		case "status":
			sayStatus(step.swap);
			break;
	}
}

function failed(
	error: unknown,
	{ id, reached, record }: { id: string; reached: Reached; record: IntentState },
): FailedSwap {
	const swapId = reached.swapId ?? ("swapId" in record ? record.swapId : undefined);
	// Once something was signed, an unknown outcome counts as one that may execute.
	const wasSigned = swapId !== undefined || mayExecute(record);
	const isInterrupt = error instanceof Interrupted;
	return new FailedSwap(isInterrupt ? interrupted({ ...reached, wasSigned }) : error, {
		id,
		swapId,
		resume: resumeCommand(id),
		mayExecute: isInterrupt ? wasSigned : (knownOutcome(error) ?? wasSigned),
	});
}

/** Converts the SDK's price errors to whole tokens, because the SDK has no decimals. */
function inWholeTokens(error: unknown, to: Asset): unknown {
	if (!(error instanceof GeoswapError)) return error;
	switch (error.code) {
		case "DECLINED":
			return priceNotAccepted(to, {
				quoted: String(error.details?.quoted),
				floor: undefined,
				wasAsked: true,
			});
		case "PRICE_NOT_ACCEPTED": {
			const { quoted, floor } = error.details ?? {};
			return priceNotAccepted(to, { quoted: String(quoted), floor, wasAsked: false });
		}
		case "BELOW_MIN_OUTPUT": {
			const { quoted, minOutput } = error.details ?? {};
			return belowMinOutput(to, { quoted: String(quoted), minOutput: String(minOutput) });
		}
		default:
			return error;
	}
}

/** Returns whether the swap may execute, if the error states it. */
function knownOutcome(error: unknown): boolean | undefined {
	if (error instanceof CliError) return error.mayExecute;
	if (!(error instanceof GeoswapError)) return undefined;
	return error.mayExecute ?? (error.code === "SWAP_IN_PROGRESS" || undefined);
}

function interrupted({
	isAuthorizing,
	isSubmitted,
	wasSigned,
}: Pick<Reached, "isAuthorizing" | "isSubmitted"> & { wasSigned: boolean }): CliError {
	const message = isSubmitted
		? "Interrupted. The swap goes on without this program."
		: wasSigned
			? "Interrupted while the swap was being submitted. It was signed, and may still execute."
			: isAuthorizing
				? "Interrupted before the swap was signed. Only the wallet's delegation to the pinned contract was signed, which moves no funds."
				: "Interrupted before anything was signed. Nothing happened.";
	return new CliError(message, {
		code: "INTERRUPTED",
		exit: exitCode.refused,
		next: "resume",
		retryable: true,
		section: "resuming",
	});
}

/** Returns the asset of a stored intent. */
export function assetOf({ pins }: Context["config"], chainId: number, token: string): Asset {
	return findAsset(pins, "the intent's token", `${chainId}:${token}`);
}
