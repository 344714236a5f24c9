import { randomUUID } from "node:crypto";
import { isSolana } from "@geoswap/protocol";
import type { OriginSigner } from "@geoswap/sdk";
import { CliError } from "../cli-error.ts";
import { homeOf } from "../config.ts";
import { type Call, type Context, openContext } from "../context.ts";
import { FailedSwap } from "../describe-error.ts";
import { dryRun } from "../dry-run.ts";
import { assetOf, executeSwap, type SwapJob } from "../execute-swap.ts";
import type { ExitCode } from "../exit-code.ts";
import { expectSame } from "../expect-same.ts";
import {
	checkId,
	type Intent,
	type Intents,
	mayExecute,
	openIntents,
	resumeCommand,
	termFields,
} from "../intents.ts";
import { parseAmount } from "../parse-amount.ts";
import { readMandate } from "../read-mandate.ts";
import {
	expectWithinMaxSpend,
	readAmount,
	readRecipient,
	readTerms,
	type TermOptions,
	type Terms,
} from "../read-terms.ts";
import { refusalInTokens } from "../refusal-in-tokens.ts";
import { readSigner } from "../wallet.ts";
import { answerUnlessInterrupted, unlessInterrupted } from "../watch-interrupt.ts";

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
			return await executeSwap(context, { intents, ...job, opensPage: options.open === true });
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

/** A function that must be called with the lock. */
type Take = () => Promise<SwapJob>;
type Asked = { intents: Intents; id: string; options: SwapOptions };

async function begin(context: Context, { intents, id, options }: Asked): Promise<Take> {
	const draft = await readDraft(context, { id, options });
	return async () => withPrice(await findOrKeep(context, { intents, id, draft }), options);
}

/** Accepts any price if this call has the option, or if the stored intent has it, which then applies to every call. */
function withPrice(job: Omit<SwapJob, "acceptsAnyPrice">, { acceptAnyPrice = false }: SwapOptions): SwapJob {
	return { ...job, acceptsAnyPrice: acceptAnyPrice || job.intent.acceptsAnyPrice === true };
}

async function findOrKeep(
	{ config }: Context,
	{ intents, id, draft: { terms, draft, make, signer } }: { intents: Intents; id: string; draft: Draft },
): Promise<Omit<SwapJob, "acceptsAnyPrice">> {
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
		config.pins,
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
		if (minOutput !== undefined) expectSame(resumed, { minOutput }, ["minOutput"], config.pins);
		if (resumed !== found) await intents.keep(resumed);
		return withPrice({ intent: resumed, signer }, options);
	};
}

async function dryRunOf(call: Call, options: SwapOptions): Promise<ExitCode> {
	const context = await openContext(call);
	const id = options.id === undefined ? randomUUID() : checkId(options.id);
	const { terms, make } = await readDraft(context, { id, options });
	const intent = await make();
	try {
		return await dryRun(context, { ...terms, intent });
	} catch (error) {
		throw refusalInTokens(error, terms.from, terms.receive === undefined ? terms.from : terms.to);
	}
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
	const { slippageBps, minOutput, receive } = terms;
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
		...terms.topUp,
		...(minOutput !== undefined && { minOutput: String(minOutput) }),
		...(receive !== undefined && { outputAmount: String(receive) }),
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
