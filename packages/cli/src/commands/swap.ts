import { randomUUID } from "node:crypto";
import { isSolana } from "@geoswap/protocol";
import { GeoswapError, type OriginSigner, type SwapProgress, stableFloor, swap } from "@geoswap/sdk";
import { askAccept } from "../ask-accept.ts";
import { CliError } from "../cli-error.ts";
import { homeOf } from "../config.ts";
import { type Call, type Context, openContext } from "../context.ts";
import { assetJson, giveLines } from "../cost-lines.ts";
import { FailedSwap } from "../describe-error.ts";
import { dryRun } from "../dry-run.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { expectSame } from "../expect-same.ts";
import { formatAmount } from "../format-amount.ts";
import {
	checkId,
	type Intent,
	type IntentState,
	type Intents,
	mayExecute,
	openIntents,
	resumeCommand,
	termFields,
} from "../intents.ts";
import { openPage } from "../open-page.ts";
import type { Output } from "../output.ts";
import { parseAmount } from "../parse-amount.ts";
import { type Asset, findAsset } from "../pinned-assets.ts";
import { belowMinOutput, priceNotAccepted, reasonToAsk } from "../price-not-accepted.ts";
import { readMandate } from "../read-mandate.ts";
import {
	expectWithinMaxSpend,
	readAmount,
	readRecipient,
	readTerms,
	type TermOptions,
	type Terms,
} from "../read-terms.ts";
import { createProgress, swapLines } from "../swap-progress.ts";
import { readSigner } from "../wallet.ts";
import { answerUnlessInterrupted, Interrupted, unlessInterrupted } from "../watch-interrupt.ts";

export type SwapOptions = TermOptions & {
	id?: string;
	resume?: string;
	dryRun?: boolean;
	acceptAnyPrice?: boolean;
	/** Delegates the wallet to the account that accepts typed data only. */
	typedOnly?: boolean;
	/** A file with an owner's mandate. */
	mandate?: string;
	/** Opens the swap's page in the browser. */
	open?: boolean;
};

export async function swapCommand(call: Call, options: SwapOptions): Promise<ExitCode> {
	const { signal } = call;
	if (options.dryRun && options.resume === undefined) {
		return answerUnlessInterrupted(call, (asked) => dryRunOf(asked, options));
	}
	const id = options.resume ?? (options.id === undefined ? randomUUID() : checkId(options.id));
	const intents = openIntents(homeOf(call.io));
	try {
		const context = await unlessInterrupted(signal, openContext(call));
		const prepare = options.resume === undefined ? begin : findBegun;
		const take = await unlessInterrupted(signal, prepare(context, { intents, id, options }));
		const unlock = await intents.lock(id);
		try {
			const job = await unlessInterrupted(signal, take());
			return await execute(context, { intents, ...job, opensPage: options.open === true });
		} finally {
			// The swap's outcome matters more than the lock, which ends with its process.
			await unlock().catch(() => {});
		}
	} catch (error) {
		if (error instanceof FailedSwap) throw error;
		// Even if this call failed, an earlier one may have signed, and another process may be about to.
		const state = await intents.stateOf(id);
		if (!mayExecute(state) && !(error instanceof CliError && error.mayExecute)) throw error;
		const swapId = "swapId" in state ? state.swapId : undefined;
		throw new FailedSwap(error, { id, swapId, mayExecute: true, resume: resumeCommand(id) });
	}
}

type Job = { intent: Intent; signer: OriginSigner; acceptsAnyPrice: boolean };
/** A function that must be called with the lock. */
type Take = () => Promise<Job>;
type Asked = { intents: Intents; id: string; options: SwapOptions };

async function begin(context: Context, { intents, id, options }: Asked): Promise<Take> {
	const draft = await readDraft(context, { id, options });
	return async () => withPrice(await findOrKeep(intents, id, draft), options);
}

/** Accepts any price if this call has the option, or if the stored intent has it, which then applies to every call. */
function withPrice(job: Omit<Job, "acceptsAnyPrice">, { acceptAnyPrice = false }: SwapOptions): Job {
	return { ...job, acceptsAnyPrice: acceptAnyPrice || job.intent.acceptsAnyPrice === true };
}

async function findOrKeep(
	intents: Intents,
	id: string,
	{ terms, draft, make, signer }: Draft,
): Promise<Omit<Job, "acceptsAnyPrice">> {
	const found = await intents.findOrKeep(id, make);
	const limited = await withMinOutput(intents, found, draft.minOutput);
	// The swap uses the newest mandate, and so does a call that resumes it.
	const intent = draft.mandate ? { ...limited, mandate: draft.mandate } : limited;
	// `max` is another amount once the swap has begun, so the amount at the swap's beginning counts.
	const all = intent.isMax ? intent.amount : "max";
	expectSame(
		intent,
		{ ...draft, amount: terms.amount === "max" ? all : String(terms.amount) },
		comparedFields,
	);
	// An intent that has ended spends nothing more.
	if ((await intents.recordOf(id)).state !== "ended") expectWithinMaxSpend(terms, BigInt(intent.amount));
	if (intent !== found) await intents.keep(intent);
	return { intent, signer };
}

/** Returns the intent with this minimum if it has no minimum yet and nothing is signed for it, else unchanged. */
async function withMinOutput(
	intents: Intents,
	intent: Intent,
	minOutput: string | undefined,
): Promise<Intent> {
	if (minOutput === undefined || intent.minOutput !== undefined) return intent;
	const { state } = await intents.recordOf(intent.id);
	return state === "none" || state === "open" ? { ...intent, minOutput } : intent;
}

async function findBegun({ config, keys }: Context, { intents, id, options }: Asked): Promise<Take> {
	const {
		resume: _,
		acceptAnyPrice: __,
		json: ___,
		open: ____,
		minOut,
		...others
	} = options as SwapOptions & { json?: boolean };
	if (Object.keys(others).length > 0) {
		throw new CliError(
			"--resume continues an intent with its original terms. Of the other options, only --min-out, --accept-any-price and --open may be used with it.",
			{ code: "USAGE", section: "resuming" },
		);
	}
	const intent = await intents.find(id);
	if (!intent) {
		throw new CliError(
			`No intent ${id} was started on this machine. List the unfinished ones with geoswap history --unfinished.`,
			{
				code: "UNKNOWN_ID",
				section: "resuming",
			},
		);
	}
	const { isTypedOnly, mandate } = intent;
	const kind = isSolana(intent.originChain) ? "solana" : "evm";
	const signer = await readSigner(keys, kind, { isTypedOnly, mandate });
	expectSame(intent, { baseUrl: config.baseUrl, walletAddress: signer.address }, [
		"baseUrl",
		"walletAddress",
	]);
	const decimals = () => assetOf(config, intent.destinationChain, intent.outputToken).decimals;
	const minOutput = minOut === undefined ? undefined : String(parseAmount("--min-out", minOut, decimals()));
	return async () => {
		// Another process may have added a minimum before this one had the lock.
		const found = (await intents.find(id)) ?? intent;
		const resumed = await withMinOutput(intents, found, minOutput);
		if (minOutput !== undefined) expectSame(resumed, { minOutput }, ["minOutput"]);
		if (resumed !== found) await intents.keep(resumed);
		return withPrice({ intent: resumed, signer }, options);
	};
}

async function dryRunOf(call: Call, options: SwapOptions): Promise<ExitCode> {
	const context = await openContext(call);
	const id = options.id === undefined ? randomUUID() : checkId(options.id);
	const { terms, make } = await readDraft(context, { id, options });
	return dryRun(context, { ...terms, intent: await make() });
}

type Draft = {
	terms: Terms;
	draft: Omit<Intent, "version" | "id" | "createdAt" | "amount">;
	make: () => Promise<Intent>;
	signer: OriginSigner;
};

/** Returns the terms of the options, and a function that makes the intent if the id is new. */
async function readDraft(
	{ config, keys }: Context,
	{ id, options }: Pick<Asked, "id" | "options">,
): Promise<Draft> {
	const terms = readTerms(config.pins, options);
	const isTypedOnly = options.typedOnly === true;
	if (isTypedOnly && terms.from.chain.kind === "solana") {
		throw new CliError("--typed-only is for EVM wallets, because a swap from Solana delegates nothing.", {
			code: "USAGE",
			section: "delegates",
		});
	}
	const mandate = options.mandate === undefined ? undefined : (await readMandate(options.mandate)).json;
	if (mandate && (isTypedOnly || mandate.chainId !== terms.from.chain.chainId)) {
		const message = isTypedOnly
			? "--typed-only is for the wallet's owner, because an agent cannot choose the wallet's delegate."
			: `The mandate is for chain ${mandate.chainId}, and --from is on ${terms.from.chain.chainId}.`;
		throw new CliError(message, { code: "USAGE", section: "mandates" });
	}
	const signer = await readSigner(keys, terms.from.chain.kind, { isTypedOnly, mandate });
	if (mandate && terms.recipient === undefined && terms.to.chain.kind === "solana") {
		const message =
			"With a mandate, pass the recipient on Solana with --recipient. It must be one of the mandate's.";
		throw new CliError(message, { code: "USAGE", section: "mandates" });
	}
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
		...(options.acceptAnyPrice && { acceptsAnyPrice: true }),
		...(isTypedOnly && { isTypedOnly }),
		...(mandate && { mandate }),
	};
	const make = async (): Promise<Intent> => {
		const amount = await readAmount(config, terms, signer.address);
		expectWithinMaxSpend(terms, amount);
		return { version: 1, id, createdAt: new Date().toISOString(), ...draft, amount: String(amount) };
	};
	return { terms, draft, make, signer };
}

const comparedFields = [...termFields, "minOutput", "isTypedOnly"] as const satisfies (keyof Intent)[];

async function execute(
	context: Context,
	{
		intents,
		intent,
		signer,
		acceptsAnyPrice,
		opensPage,
	}: Job & {
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
	// The id is shown before anything is signed, so that the caller can resume if the process is killed.
	output.say(["id", id]);
	for (const line of giveLines({ from, amount, wallet: intent.walletAddress })) output.say(line);

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
			amount,
			...(intent.recipient !== undefined && { recipient: intent.recipient }),
			...(intent.slippageBps !== undefined && { slippageBps: intent.slippageBps }),
			...(intent.minOutput !== undefined && { minOutput: BigInt(intent.minOutput) }),
			...((acceptsAnyPrice || canAsk) && {
				onBeforeSign: async ({ minOutput }) => {
					const floor = stableFloor(config.pins, intent);
					const isBounded = intent.minOutput !== undefined || (floor !== undefined && minOutput >= floor);
					if (acceptsAnyPrice || isBounded) return true;
					// Nothing else is written into the question while the user answers it.
					silence.stop();
					const least = `${formatAmount(minOutput, to.decimals)} ${to.symbol}`;
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
				from: { ...assetJson(from), amount, wallet: intent.walletAddress },
				to: assetJson(to),
				swap: ended,
				...(url !== undefined && { page: url }),
			},
			swapLines(config.pins, ended),
		);
		return ended.status === "settled" ? exitCode.done : exitCode.notSettled;
	} catch (error) {
		throw failed(inWholeTokens(error, to), { id, reached, record: await intents.recordOf(id) });
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
			const { output: expected, minOutput, recipient, warnings = [] } = step.quote;
			const shown = (units: string) => `${formatAmount(units, to.decimals)} ${to.symbol}`;
			say(`quoted: about ${shown(expected)} on ${to.chain.name}, at least ${shown(minOutput)}`);
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
			say(`the service says that it is over; waiting until no chain can execute it, at ${step.until}`);
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
	const { quoted, minOutput, floor } = error.details ?? {};
	const wasAsked = error.code === "DECLINED";
	if (wasAsked || error.code === "PRICE_NOT_ACCEPTED") {
		return priceNotAccepted(to, {
			quoted: String(quoted),
			floor: floor === undefined ? undefined : String(floor),
			wasAsked,
		});
	}
	if (error.code !== "BELOW_MIN_OUTPUT") return error;
	return belowMinOutput(to, { quoted: String(quoted), minOutput: String(minOutput) });
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

function assetOf({ pins }: Context["config"], chainId: number, token: string): Asset {
	return findAsset(pins, "the intent's token", `${chainId}:${token}`);
}
