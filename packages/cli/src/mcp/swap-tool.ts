import { mulDivDown, mulDivUp } from "@geoswap/protocol";
import { getQuote } from "@geoswap/sdk";
import { type BudgetLedger, worstOutput } from "@geoswap/sdk/budget";
import {
	type CallToolResult,
	CLIENT_CAPABILITIES_META_KEY,
	type ClientCapabilities,
	type InputRequiredResult,
	inputRequired,
	inputResponse,
	type McpServer,
	type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { CliError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { showNative } from "../cost-lines.ts";
import { exitCode } from "../exit-code.ts";
import { wholeTokens } from "../format-amount.ts";
import { type Asset, findAsset, isSameAddress } from "../pinned-assets.ts";
import { readRecipient, readTerms, topUpOf } from "../read-terms.ts";
import { refusalInTokens } from "../refusal-in-tokens.ts";
import { readSigner } from "../wallet.ts";
import { givenAmounts } from "./amount-fields.ts";
import { type Approvals, type ApprovedTerms, approvalSeconds, type Question } from "./approvals.ts";
import { type CurrentReport, currentReport } from "./current-report.ts";
import type { CalledTerms } from "./other-terms.ts";
import type { OutsideApprovals } from "./outside-approvals.ts";
import { mayExecute, swapDocument, swapResultSchema } from "./swap-document.ts";
import { intentIdOf, type SwapReport, type SwapRunner } from "./swap-runner.ts";
import { cleaned, resultOf } from "./tool-result.ts";

/** Everything that swapping needs, beyond what reading does. */
export type Swapping = {
	context: Pick<Context, "config" | "client" | "keys" | "output">;
	ledger: BudgetLedger;
	runner: SwapRunner;
	approvals: Approvals;
	/** For clients that cannot ask their user. */
	outside: OutsideApprovals;
};

const idSchema = z
	.string()
	.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/)
	.describe("Your own name for this swap, such as rent-2026-11. The same id again never swaps twice.");
const amountSchema = z
	.string()
	.max(100)
	.regex(/^\d+(\.\d+)?( \S.*)?$/);

/** The arguments that a quote and a swap share. */
export const termsShape = {
	from: z.string().max(200).describe("Token to give, as chain:token, such as base:USDC."),
	to: z.string().max(200).describe("Token to get, as chain:token."),
	amount: amountSchema
		.optional()
		.describe("Amount to give, in whole tokens, such as 12.5 or 12.5 USDC. Either this or receive."),
	receive: amountSchema
		.optional()
		.describe(
			"Amount that must arrive, in whole tokens, such as an invoice's. As little as that takes is given.",
		),
	recipient: z
		.string()
		.max(100)
		.optional()
		.describe("Who gets the output; the user's own wallet by default."),
	topUpUsd: z
		.string()
		.regex(/^\d{1,4}(\.\d{1,2})?$/)
		.optional()
		.describe(
			"Value in USD, such as 0.50, of the native token that the recipient also gets for its gas on the destination chain, if it has none there. It is deducted from the output.",
		),
	slippageBps: z
		.int()
		.min(0)
		.max(5000)
		.optional()
		.describe(
			"How far below the quote the delivery may be. 0 only with receive, and the same token on both sides.",
		),
};
const argsSchema = z.strictObject({
	id: idSchema,
	...termsShape,
	minOut: amountSchema
		.optional()
		.describe("The least output to accept, in whole tokens. Left out, it follows from the price now."),
	maxAmount: amountSchema
		.optional()
		.describe("The most to give for receive, in whole tokens. Left out, it follows from the price now."),
});
type SwapArgs = z.output<typeof argsSchema>;

/** How far the approved minimum is below the quote's, because the price may move while a user decides. */
const marginBps = 100n;

export function registerSwapTool(server: McpServer, swapping: Swapping): void {
	server.registerTool(
		"swap",
		{
			title: "Swap tokens",
			description:
				"Gives tokens of the user's wallet for others, within a budget, after the user has approved the terms. Returns as soon as the swap is submitted: follow it with get_swap. Use a new id for each swap that the user asks for, and the same id to repeat a call. If the status is unknown, follow it and never start another.",
			inputSchema: argsSchema,
			outputSchema: swapResultSchema,
			annotations: {
				readOnlyHint: false,
				destructiveHint: true,
				idempotentHint: true,
				openWorldHint: true,
			},
		},
		async (args, ctx) => {
			try {
				return await swapOrAsk(server, swapping, { args, ctx });
			} catch (error) {
				return asRefusal(swapping, args.id, await swapping.runner.failed(intentIdOf(args.id), error));
			}
		},
	);
}

async function swapOrAsk(
	server: McpServer,
	swapping: Swapping,
	{ args, ctx }: { args: SwapArgs; ctx: ServerContext },
): Promise<CallToolResult | InputRequiredResult> {
	const { context, approvals } = swapping;
	const read = await readArgs(swapping, args);
	const { terms, minOutput, amount } = read;
	const { signal } = ctx.mcpReq;
	const called: CalledTerms = {
		...terms,
		...(minOutput !== undefined && { minOutput: String(minOutput) }),
		...(amount !== undefined && { amount: String(amount) }),
	};
	// The report comes first: a call that runs at the same time stores its terms before there is a report.
	const found = await findReport(swapping, terms.id, signal);
	const other = await findOther(swapping, called, found);
	if (other) return asRefusal(swapping, args.id, other);
	// An approved swap needs no second approval, and a repeated call is no second swap.
	if (found) return resultOf(swapResultSchema, swapDocument(context.config.pins, args.id, found));

	if (!canAsk(server, ctx)) return swapAskedOutside(swapping, { read, called, args, signal });
	const question = ctx.mcpReq.requestState<Question>();
	if (question === undefined) return ask(swapping, { ...read, args, ctx });
	// Any answer uses up the nonce. An answer to a question that this process did not send is not read.
	if (!approvals.use(question, args)) {
		throw new CliError(
			"This approval was used, has lapsed, or was given for other terms. Call swap again without it to ask anew.",
			{ code: "APPROVAL_INVALID", exit: exitCode.refused, section: "mcp", mayExecute: false },
		);
	}
	const answer = inputResponse(ctx.mcpReq.inputResponses, "approval");
	if (answer.kind !== "elicit" || answer.action !== "accept" || answer.content?.approve !== true) {
		throw declined();
	}
	return swapApproved(swapping, { id: args.id, terms: question.terms, called, signal });
}

function declined(): CliError {
	return new CliError("The user did not approve the swap. Do not ask again unless the user wants it.", {
		code: "APPROVAL_DECLINED",
		exit: exitCode.refused,
		section: "mcp",
		mayExecute: false,
	});
}

/** Asks the user outside of the client, which cannot ask. Returns that it waits if there is no answer yet. */
async function swapAskedOutside(
	swapping: Swapping,
	{ read, called, args, signal }: { read: Read; called: CalledTerms; args: SwapArgs; signal: AbortSignal },
): Promise<CallToolResult> {
	const { id } = read.terms;
	const makeQuestion = async () => {
		const { approved: terms, message: text } = await questionFor(swapping, read);
		return { terms, text };
	};
	const outcome = await swapping.outside.decide({ id, args }, makeQuestion, signal);
	switch (outcome.answer) {
		case "declined":
			throw declined();
		case "pending": {
			const report = { status: "awaiting_approval" as const };
			return resultOf(swapResultSchema, swapDocument(swapping.context.config.pins, args.id, report));
		}
		case "approved":
			return swapApproved(swapping, { id: args.id, terms: outcome.terms, called, signal });
	}
}

async function swapApproved(
	swapping: Swapping,
	{
		id,
		terms,
		called,
		signal,
	}: { id: string; terms: ApprovedTerms; called: CalledTerms; signal: AbortSignal },
): Promise<CallToolResult> {
	const { context, runner } = swapping;
	const signUntilMs = Date.now() + approvalSeconds * 1_000;
	const report = await runner.swap(terms, () => {
		// The client has timed out and would never receive a swap that is signed now.
		signal.throwIfAborted();
		if (Date.now() > signUntilMs) throw new Error("the approval has lapsed");
	});
	// Meanwhile another call may have used the id for other terms.
	const first = await findOther(swapping, called, report);
	if (first) return asRefusal(swapping, id, first);
	return report.status === "not_swapped"
		? asRefusal(swapping, id, report)
		: resultOf(swapResultSchema, swapDocument(context.config.pins, id, report));
}

/** Returns the report of an id, as get_swap does. Undefined if nothing that was signed for it can execute. */
async function findReport(
	{ context, runner }: Swapping,
	id: string,
	signal: AbortSignal,
): Promise<CurrentReport | undefined> {
	const found = await runner.find(id);
	if (found?.status !== "submitted" || found.swapId === undefined) return found;
	// Without an answer of the service, the swap is still known to be submitted.
	return currentReport(context.client, found.swapId, { waitSeconds: 0, signal }).catch(() => found);
}

/** Returns the report of a call whose id was used for other terms, or undefined. */
async function findOther(
	{ runner }: Swapping,
	terms: CalledTerms,
	report: SwapReport | undefined,
): Promise<SwapReport | undefined> {
	const error = await runner.findOtherTerms(terms);
	return error && { status: "id_used", mayExecute: report !== undefined && mayExecute(report), error };
}

function asRefusal({ context }: Swapping, id: string, report: SwapReport): CallToolResult {
	return { ...resultOf(swapResultSchema, swapDocument(context.config.pins, id, report)), isError: true };
}

type Read = {
	terms: Omit<ApprovedTerms, "minOutput" | "amount">;
	from: Asset;
	to: Asset;
	/** The exact input, or the most that is given for an exact output. */
	amount: bigint | undefined;
	minOutput: bigint | undefined;
};

async function readArgs({ context }: Swapping, args: SwapArgs): Promise<Read> {
	const { config, keys } = context;
	const { slippageBps, topUpUsd, recipient: asked, from: give, to: get } = args;
	const [input, output] = [findAsset(config.pins, "from", give), findAsset(config.pins, "to", get)];
	const { from, to, amount, receive, recipient, minOutput, topUp } = readTerms(
		config.pins,
		{
			from: give,
			to: get,
			...givenAmounts({ amount: args.amount, maxSpend: args.maxAmount }, input),
			...givenAmounts({ receive: args.receive, minOut: args.minOut }, output),
			...(asked !== undefined && { recipient: asked }),
			...(topUpUsd !== undefined && { topUpUsd }),
		},
		{ isUnlimited: true },
	);
	const wallet = (await readSigner(keys, from.chain.kind)).address;
	return {
		from,
		to,
		amount: receive !== undefined && args.maxAmount === undefined ? undefined : BigInt(amount),
		minOutput: receive ?? minOutput,
		terms: {
			id: intentIdOf(args.id),
			baseUrl: config.baseUrl,
			originChain: from.chain.chainId,
			destinationChain: to.chain.chainId,
			inputToken: from.address,
			outputToken: to.address,
			...(receive !== undefined && { outputAmount: String(receive) }),
			walletAddress: wallet,
			recipient: (await readRecipient(keys, { from, to, recipient })) ?? wallet,
			...(slippageBps !== undefined && { slippageBps }),
			...topUp,
		},
	};
}

/** Returns true if the client has declared that it can show a form to its user. */
function canAsk(server: McpServer, ctx: ServerContext): boolean {
	const envelope: Record<string, unknown> | undefined = ctx.mcpReq.envelope;
	const told = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
	const { elicitation } = told ?? server.server.getClientCapabilities() ?? {};
	// An empty object declares that forms are supported, as in the first revision of the protocol that had them.
	return elicitation !== undefined && (elicitation.form !== undefined || !elicitation.url);
}

async function ask(
	swapping: Swapping,
	{ args, ctx, ...read }: Read & { args: SwapArgs; ctx: ServerContext },
): Promise<InputRequiredResult> {
	const { approved, message } = await questionFor(swapping, read);
	return inputRequired({
		inputRequests: {
			approval: inputRequired.elicit({
				message,
				requestedSchema: z.object({ approve: z.boolean().meta({ title: "Swap on these terms" }) }),
			}),
		},
		requestState: await swapping.approvals.ask(args, approved, ctx),
	});
}

/** Returns the terms to approve, at the price now, and the question for the user. */
async function questionFor(
	{ context, ledger, runner }: Swapping,
	{ terms, from, to, amount: limit, minOutput }: Read,
): Promise<{ approved: ApprovedTerms; message: string }> {
	const { originChain, destinationChain, inputToken, outputToken, recipient, walletAddress } = terms;
	const pair = { originChain, destinationChain, inputToken, outputToken };
	const { slippageBps } = terms;
	// Swaps that the budget refuses, even at the best price, need no approval.
	const best = { id: terms.id, ...pair, recipient, amount: limit ?? 1n, minOutput: minOutput ?? maxUint256 };
	await ledger.check(best);
	// A top-up that was approved under the id stays the same in native units, because it is part of what the id means.
	const earlier = (await runner.intents.find(terms.id))?.topUp;
	const quote = await getQuote(context.client, {
		...pair,
		...(terms.outputAmount === undefined ? { amount: String(limit) } : { outputAmount: terms.outputAmount }),
		walletAddress,
		recipient,
		...(slippageBps !== undefined && { slippageBps }),
		...(earlier === undefined ? topUpOf(terms) : { topUp: earlier }),
	}).catch((error: unknown) => {
		throw refusalInTokens(error, from, terms.outputAmount === undefined ? from : to);
	});
	const amount = limit ?? mulDivUp(quote.amount, 10_000n + marginBps, 10_000n);
	const worst = worstOutput(ledger.budget, { ...pair, amount }) ?? maxUint256;
	const quoted = mulDivDown(quote.minOutput, 10_000n - marginBps, 10_000n);
	const approved: ApprovedTerms = {
		...terms,
		amount: String(amount),
		minOutput: String(minOutput ?? largerOf(quoted, worst)),
		// The user approves native units, which no later price changes.
		...(quote.topUp !== undefined && { topUp: String(quote.topUp) }),
	};
	// The input of an exact output is known only now.
	if (limit === undefined) await ledger.check({ ...best, amount, minOutput: BigInt(approved.minOutput) });
	const left = (await ledger.left({ chainId: originChain, token: inputToken })) - amount;
	return { approved, message: questionText({ approved, from, to, expected: quote.output, left }) };
}

function largerOf(one: bigint, other: bigint): bigint {
	return one < other ? other : one;
}

const maxUint256 = (1n << 256n) - 1n;

/** Returns the terms for a user. Names come from the deployment file; the addresses decide. */
function questionText({
	approved,
	from,
	to,
	expected,
	left,
}: {
	approved: ApprovedTerms;
	from: Asset;
	to: Asset;
	expected: bigint;
	left: bigint;
}): string {
	const shown = (units: bigint | string, { symbol, decimals }: Asset) =>
		wholeTokens(units, { symbol: nameOf(symbol), decimals });
	const { recipient, walletAddress } = approved;
	const isOwn = isSameAddress(approved.destinationChain, recipient, walletAddress);
	return [
		"Approve this swap?",
		`You give at most ${shown(approved.amount, from)} on ${nameOf(from.chain.name)}`,
		`  token ${from.address}, wallet ${walletAddress}`,
		`You get at least ${shown(approved.minOutput, to)} on ${nameOf(to.chain.name)}, now about ${shown(expected, to)}`,
		`  token ${to.address}`,
		`Recipient ${recipient}${isOwn ? " (your wallet)" : ""}`,
		...(approved.topUp === undefined
			? []
			: [
					`The recipient also gets ${showNative(to.chain, BigInt(approved.topUp))} for gas, out of the output`,
				]),
		"If less could be delivered, the whole input comes back.",
		`Left of the budget of 24 hours after it: ${shown(left > 0n ? left : 0n, from)}`,
	].join("\n");
}

const longestName = 32;

/** Returns a name that fits on one line and cannot imitate other parts of the question. */
function nameOf(text: string): string {
	const name = String(cleaned(text)).slice(0, longestName);
	return /^[\w.+$-]+( [\w.+$-]+)*$/.test(name) ? name : JSON.stringify(name);
}
