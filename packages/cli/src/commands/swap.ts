import { randomUUID } from "node:crypto";
import { GeoswapError, type SwapProgress, swap } from "@geoswap/sdk";
import { belowMinOutput } from "../below-min-output.ts";
import { CliError } from "../cli-error.ts";
import { type Call, type Context, openContext } from "../context.ts";
import { FailedSwap } from "../describe-error.ts";
import { assetJson, giveLines } from "../describe-terms.ts";
import { dryRun } from "../dry-run.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { formatAmount } from "../format-amount.ts";
import { checkId, type Intent, openIntents } from "../intents.ts";
import type { Output } from "../output.ts";
import { type Asset, findAsset } from "../pinned-assets.ts";
import {
	expectWithinMaxSpend,
	readAmount,
	readRecipient,
	readTerms,
	type TermOptions,
} from "../read-terms.ts";
import { shellWord } from "../shell-word.ts";
import { createProgress, swapLines } from "../swap-progress.ts";
import { readSigner } from "../wallet.ts";
import { Interrupted, watchInterrupt } from "../watch-interrupt.ts";

export type SwapOptions = TermOptions & { id?: string; resume?: string; dryRun?: boolean };

export async function swapCommand(call: Call, options: SwapOptions): Promise<ExitCode> {
	const context = await openContext(call);
	if (options.resume !== undefined) return resume(context, options.resume, options);
	const { config, keys } = context;
	const terms = readTerms(config.pins, options);
	const id = options.id === undefined ? randomUUID() : checkId(options.id);
	const signer = await readSigner(keys, terms.from.chain.kind);
	const recipient = await readRecipient(keys, terms);
	const { slippageBps, minOutput } = terms;
	const draft = {
		baseUrl: config.baseUrl,
		isMax: terms.amount === "max",
		originChain: terms.from.chain.chainId,
		destinationChain: terms.to.chain.chainId,
		inputToken: terms.from.address,
		outputToken: terms.to.address,
		walletAddress: signer.address,
		...(recipient !== undefined && { recipient }),
		...(slippageBps !== undefined && { slippageBps }),
		...(minOutput !== undefined && { minOutput: String(minOutput) }),
	};
	const make = async (): Promise<Intent> => {
		const amount = await readAmount(config, terms, signer.address);
		expectWithinMaxSpend(terms, amount);
		return { version: 1, id, createdAt: new Date().toISOString(), ...draft, amount: String(amount) };
	};
	if (options.dryRun) return dryRun(context, { ...terms, intent: await make() });

	const intent = await openIntents(config.home).findOrKeep(id, make);
	// All of a wallet is another amount once the swap has begun: what counts is what it was then.
	expectSame(intent, { ...draft, amount: terms.amount === "max" ? intent.amount : String(terms.amount) });
	expectWithinMaxSpend(terms, BigInt(intent.amount));
	return execute(context, intent);
}

async function resume(context: Context, id: string, options: SwapOptions): Promise<ExitCode> {
	const { resume: _, json: __, ...others } = options as SwapOptions & { json?: boolean };
	if (Object.keys(others).length > 0) {
		throw new CliError("--resume takes an intent as it was asked for, and no other option beside it.", {
			code: "USAGE",
			section: "resuming",
		});
	}
	const intent = await openIntents(context.config.home).find(id);
	if (!intent) {
		throw new CliError(`No intent ${id} was begun here. See those that were: geoswap history --unfinished`, {
			code: "UNKNOWN_ID",
			section: "resuming",
		});
	}
	expectSame(intent, { baseUrl: context.config.baseUrl });
	return execute(context, intent);
}

/** The SDK compares what it quotes; a minimum, and the service itself, it does not know of. */
function expectSame(intent: Intent, asked: Partial<Intent>): void {
	const spelled = (value: unknown) => {
		const text = String(value ?? "");
		return text.startsWith("0x") ? text.toLowerCase() : text;
	};
	const fields: (keyof Intent)[] =
		"amount" in asked
			? [
					"baseUrl",
					"originChain",
					"destinationChain",
					"inputToken",
					"outputToken",
					"amount",
					"walletAddress",
					"recipient",
					"slippageBps",
					"minOutput",
				]
			: ["baseUrl"];
	const field = fields.find((candidate) => spelled(intent[candidate]) !== spelled(asked[candidate]));
	if (field === undefined) return;
	throw new CliError(
		`${intent.id} names another intent: its ${field} is ${intent[field] ?? "not given"}, not ${asked[field] ?? "left out"}. Give a new intent a new id, or go on with this one: ${resumeCommand(intent.id)}`,
		{
			code: "INTENT_CHANGED",
			section: "resuming",
			details: { field, saved: intent[field], asked: asked[field] },
		},
	);
}

async function execute({ config, client, keys, io, output }: Context, intent: Intent): Promise<ExitCode> {
	const { id } = intent;
	const from = assetOf(config, intent.originChain, intent.inputToken);
	const to = assetOf(config, intent.destinationChain, intent.outputToken);
	const signer = await readSigner(keys, from.chain.kind);
	const amount = BigInt(intent.amount);
	// Before anything is signed: whoever is killed must know how to go on.
	output.say(["id", id]);
	for (const line of giveLines({ from, amount, wallet: intent.walletAddress })) output.say(line);

	const reached: Reached = {};
	const progress = createProgress(output);
	const silence = setTimeout(() => progress.say(`waiting for ${config.baseUrl} to answer`), 5_000);
	try {
		const ended = await watchInterrupt(io, (signal) =>
			swap(client, {
				id,
				originChain: intent.originChain,
				destinationChain: intent.destinationChain,
				inputToken: intent.inputToken,
				outputToken: intent.outputToken,
				amount,
				...(intent.recipient !== undefined && { recipient: intent.recipient }),
				...(intent.slippageBps !== undefined && { slippageBps: intent.slippageBps }),
				...(intent.minOutput !== undefined && { minOutput: BigInt(intent.minOutput) }),
				signer,
				pins: config.pins,
				store: openIntents(config.home).records,
				onProgress: (step) => {
					clearTimeout(silence);
					note(reached, step);
					tell(output, progress, { to, step });
				},
				signal,
			}),
		);
		await output.result(
			{
				id,
				from: { ...assetJson(from), amount, wallet: intent.walletAddress },
				to: assetJson(to),
				swap: ended,
			},
			swapLines(config.pins, ended),
		);
		return ended.status === "settled" ? exitCode.done : exitCode.notSettled;
	} catch (error) {
		throw failed(inWholeTokens(error, to), id, reached);
	} finally {
		clearTimeout(silence);
	}
}

/** How far it came, for whoever is told that it ended early. */
type Reached = { swapId?: string; isSubmitted?: boolean };

function note(reached: Reached, step: SwapProgress): void {
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
			say(`going on with ${step.swapId}`);
			break;
		case "quoted": {
			const { output: expected, minOutput, recipient, warnings = [] } = step.quote;
			const shown = (units: string) => `${formatAmount(units, to.decimals)} ${to.symbol}`;
			say(`quoted: about ${shown(expected)} on ${to.chain.name}, at least ${shown(minOutput)}`);
			output.say(["", `token ${to.address}`]);
			output.say(["", `recipient ${recipient}`]);
			for (const { code, message } of warnings) say(`${code}: ${message}`, "yellow");
			break;
		}
		case "authorizing":
			say("authorizing: the first swap of this wallet from this chain");
			break;
		case "signed":
			say("verified and signed");
			break;
		case "refused":
			say(`not taken yet, trying until ${step.expiresAt}: ${step.error.message}`, "yellow");
			break;
		case "submitted":
			say(`submitted ${step.swapId}`);
			break;
		case "status":
			sayStatus(step.swap);
			break;
	}
}

function failed(error: unknown, id: string, { swapId, isSubmitted }: Reached): FailedSwap {
	const resume = isSubmitted && swapId ? `geoswap status ${swapId}` : resumeCommand(id);
	if (error instanceof Interrupted) {
		const mayExecute = swapId !== undefined;
		return new FailedSwap(interrupted({ isSubmitted: isSubmitted === true, mayExecute }), {
			...{ id, swapId, mayExecute, resume },
		});
	}
	return new FailedSwap(error, { id, swapId, mayExecute: mayExecuteAfter(error, swapId), resume });
}

/** The SDK knows no decimals. */
function inWholeTokens(error: unknown, to: Asset): unknown {
	if (!(error instanceof GeoswapError) || error.code !== "BELOW_MIN_OUTPUT") return error;
	const { quoted, minOutput } = error.details ?? {};
	return belowMinOutput(to, { quoted: String(quoted), minOutput: String(minOutput) });
}

/** What is not known counts as yes, once something was signed. */
function mayExecuteAfter(error: unknown, swapId: string | undefined): boolean {
	if (error instanceof CliError && error.mayExecute !== undefined) return error.mayExecute;
	if (!(error instanceof GeoswapError)) return swapId !== undefined;
	if (error.mayExecute !== undefined) return error.mayExecute;
	return error.code === "SWAP_IN_PROGRESS" || error.code === "RECORD_UNREADABLE" || swapId !== undefined;
}

function interrupted({ isSubmitted, mayExecute }: { isSubmitted: boolean; mayExecute: boolean }): CliError {
	const message = isSubmitted
		? "Interrupted. The swap goes on without this program."
		: mayExecute
			? "Interrupted while it was being submitted. It was signed, and may become a swap."
			: "Interrupted before anything was signed. Nothing happened.";
	return new CliError(message, {
		code: "INTERRUPTED",
		exit: exitCode.refused,
		next: "resume",
		retryable: true,
		section: "resuming",
	});
}

function resumeCommand(id: string): string {
	return `geoswap swap --resume ${shellWord(id)}`;
}

function assetOf({ pins }: Context["config"], chainId: number, token: string): Asset {
	return findAsset(pins, "the intent's token", `${chainId}:${token}`);
}
