import { type ChainsResponse, swapStatuses, type TokensResponse } from "@geoswap/protocol";
import type { SwapPage } from "@geoswap/sdk";
import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { balanceCommand, type ChainBalances } from "../commands/balance.ts";
import { chainsCommand } from "../commands/chains.ts";
import { delegationCommand } from "../commands/delegation.ts";
import { historyCommand } from "../commands/history.ts";
import { type QuoteDocument, quoteCommand } from "../commands/quote.ts";
import { tokensCommand } from "../commands/tokens.ts";
import type { Call, Context } from "../context.ts";
import { openIntents } from "../intents.ts";
import { findAsset, nativeOf } from "../pinned-assets.ts";
import { amountFields, amountShape, givenAmounts } from "./amount-fields.ts";
import { fundsDocument, fundsSchema } from "./swap-document.ts";
import { type Swapping, termsShape } from "./swap-tool.ts";
import { chainForModel, tokenForModel, unverified } from "./token-for-model.ts";
import { dataText, errorResult, resultOf, resultSchema, serviceText } from "./tool-result.ts";

/** The dependencies of the tools that read. `swapping` is missing if the server does not swap. */
export type Reading = {
	io: Call["io"];
	context: Pick<Context, "config" | "client">;
	swapping: Swapping | undefined;
};

type ListedSwap = SwapPage["swaps"][number] & { id?: string };

export const reads = {
	readOnlyHint: true,
	destructiveHint: false,
	idempotentHint: true,
	openWorldHint: true,
};
const chainText = z.string().max(100).describe("A chain, by its id or name.");
const walletText = z.string().max(100).describe("An address; the user's own wallet by default.");
/** A value in USD, as the service writes it. */
const usd = z
	.string()
	.regex(/^\d{1,30}(\.\d{1,30})?$/)
	.optional();
export const assetShape = {
	chainId: z.int(),
	chain: dataText,
	symbol: dataText,
	token: dataText,
	decimals: z.int(),
};

export function registerReadTools(server: McpServer, reading: Reading): void {
	/** Registers a tool whose result is the document that a command prints with --json. */
	const tool = <Args extends z.ZodObject>(
		name: string,
		{
			title,
			description,
			args,
			fields,
		}: { title: string; description: string; args: Args; fields: z.ZodRawShape },
		read: (args: z.output<Args>, call: Call, answered: () => object) => Promise<object>,
	) => {
		const outputSchema = resultSchema(fields);
		const config = { title, description, inputSchema: args as z.ZodObject, outputSchema, annotations: reads };
		server.registerTool(name, config, async (given, ctx): Promise<CallToolResult> => {
			try {
				let document: object = {};
				const result = async (found: object) => {
					document = found;
				};
				const call: Call = {
					io: reading.io,
					signal: ctx.mcpReq.signal,
					output: { isJson: true, say: () => {}, result },
				};
				const found = await read(given as z.output<Args>, call, () => document);
				return resultOf(outputSchema, found);
			} catch (error) {
				return errorResult(error);
			}
		});
	};

	tool(
		"get_chains",
		{
			title: "List chains",
			description: "Lists the chains of the service, and where they differ from the pinned deployment file.",
			args: z.strictObject({}),
			fields: {
				chains: z.array(
					z.object({
						chainId: z.int(),
						name: dataText,
						unverified,
						kind: z.enum(["evm", "solana"]),
						live: z.boolean(),
						paused: serviceText.optional(),
						differs: z
							.array(dataText)
							.describe(
								"Where the service contradicts the deployment file. Nothing is signed for other contracts than the file's.",
							),
						hasRpc: z.boolean().describe("Whether balances can be read."),
					}),
				),
			},
		},
		async (_, call, answered) => {
			await chainsCommand(call);
			const { chains } = answered() as ChainsResponse;
			return { chains: chains.map((chain) => chainForModel(reading.context.config.pins, chain)) };
		},
	);
	tool(
		"get_tokens",
		{
			title: "List tokens",
			description: "Lists the tokens of the service, and where they differ from the pinned deployment file.",
			args: z.strictObject({ chain: chainText.optional() }),
			fields: {
				tokens: z.array(
					z.object({
						chainId: z.int(),
						symbol: dataText,
						unverified,
						address: dataText,
						decimals: z.int(),
						live: z.boolean(),
						differs: dataText.optional().describe("Such a token cannot be swapped."),
					}),
				),
			},
		},
		async ({ chain }, call, answered) => {
			await tokensCommand(call, { ...(chain !== undefined && { chain }) });
			const { tokens } = answered() as TokensResponse;
			return { tokens: tokens.map((token) => tokenForModel(reading.context.config.pins, token)) };
		},
	);
	tool(
		"get_quote",
		{
			title: "Quote a swap",
			description: "Returns what a swap would give now. Signs nothing and reserves nothing.",
			args: z.strictObject(termsShape),
			fields: {
				from: z.object({ ...assetShape, ...amountShape("amount", "The input"), wallet: dataText }),
				to: z.object(assetShape),
				quote: z.object({
					...amountShape("output", "The expected output"),
					...amountShape("minOutput", "The least output"),
					...z
						.object(amountShape("topUp", "The native token that the recipient also gets for its gas"))
						.partial().shape,
					inputUsd: usd.describe("Indicative value of the input in USD."),
					outputUsd: usd.describe("Indicative value of the output in USD."),
					priceImpactBps: z
						.number()
						.optional()
						.describe(
							"From inputUsd to outputUsd, all costs included. Negative if the output is worth less.",
						),
					recipient: dataText,
					slippageBps: z.int(),
					feeBps: z.number(),
					etaSeconds: z.number(),
					expiresAt: dataText,
					warnings: z.array(z.object({ code: serviceText })).optional(),
				}),
			},
		},
		async ({ slippageBps, recipient, amount, receive, topUpUsd, ...terms }, call, answered) => {
			const { pins } = reading.context.config;
			await quoteCommand(call, {
				...terms,
				...givenAmounts({ amount }, findAsset(pins, "from", terms.from)),
				...givenAmounts({ receive }, findAsset(pins, "to", terms.to)),
				...(recipient !== undefined && { recipient }),
				...(topUpUsd !== undefined && { topUpUsd }),
				...(slippageBps !== undefined && { slippageBps: String(slippageBps) }),
			});
			const { from, to, quote: priced } = answered() as QuoteDocument;
			const { amount: _, topUp, ...quote } = priced;
			const native = nativeOf(findAsset(pins, "to", terms.to).chain);
			return {
				from: { ...from, ...amountFields("amount", from.amount, from) },
				to,
				quote: {
					...quote,
					...amountFields("output", quote.output, to),
					...amountFields("minOutput", quote.minOutput, to),
					...(topUp !== undefined &&
						(native ? amountFields("topUp", topUp, native) : { topUpUnits: String(topUp) })),
				},
			};
		},
	);
	tool(
		"get_balance",
		{
			title: "Read balances",
			description: "Reads what a wallet holds of each pinned token, from the chains themselves.",
			args: z.strictObject({ chain: chainText.optional(), wallet: walletText.optional() }),
			fields: {
				chains: z.array(
					z.object({
						chainId: z.int(),
						chain: dataText,
						wallet: dataText.optional(),
						balances: z
							.array(
								z.object({
									symbol: dataText,
									token: dataText,
									decimals: z.int(),
									...amountShape("amount", "What the wallet holds"),
								}),
							)
							.optional(),
						problem: z.object({ code: dataText, message: dataText }).optional(),
					}),
				),
			},
		},
		async ({ chain, wallet }, call, answered) => {
			await balanceCommand(call, {
				...(chain !== undefined && { chain }),
				...(wallet !== undefined && { wallet }),
			});
			const { chains } = answered() as { chains: ChainBalances[] };
			return { chains: chains.map(balancesForModel) };
		},
	);
	tool(
		"get_delegation",
		{
			title: "Read a delegation",
			description: "Returns whether a wallet is ready to swap from a chain.",
			args: z.strictObject({ chain: chainText, wallet: walletText.optional() }),
			fields: {
				chainId: z.int(),
				chain: dataText,
				wallet: dataText,
				ready: z.boolean(),
				needed: z.boolean().describe("False on chains where nothing is delegated."),
				blocked: serviceText.optional(),
				delegate: serviceText.optional(),
			},
		},
		async ({ chain, wallet }, call, answered) => {
			await delegationCommand(call, { chain, ...(wallet !== undefined && { wallet }) });
			return answered();
		},
	);
	tool(
		"get_history",
		{
			title: "List swaps",
			description: "Lists the swaps of the user's account, newest first.",
			args: z.strictObject({
				limit: z.int().min(1).max(100).optional(),
				status: z.enum(swapStatuses).optional(),
				cursor: z.string().max(400).optional().describe("nextCursor of the page before."),
			}),
			fields: {
				swaps: z.array(
					z.object({
						swapId: dataText,
						status: z.enum(swapStatuses),
						stage: serviceText.optional(),
						createdAt: serviceText,
						id: dataText.optional(),
						funds: fundsSchema.optional(),
					}),
				),
				nextCursor: z.string().optional(),
			},
		},
		async ({ limit = 20, status, cursor }, call, answered) => {
			await historyCommand(call, {
				limit: String(limit),
				...(status !== undefined && { status }),
				...(cursor !== undefined && { cursor }),
			});
			const { swaps, nextCursor } = answered() as { swaps: ListedSwap[]; nextCursor?: string };
			const { pins, home } = reading.context.config;
			const intents = openIntents(home);
			const known = swaps.map(async (swap) => {
				// The end that is stored here is final, even if the service was restored from an older backup.
				const ended = swap.id === undefined ? undefined : await intents.findEnd(swap.id);
				const { status, stage, funds } = ended ?? swap;
				return { ...swap, status, stage, funds: fundsDocument(pins, funds) };
			});
			return { swaps: await Promise.all(known), nextCursor };
		},
	);
}

function balancesForModel(answer: ChainBalances) {
	if (!("balances" in answer)) return answer;
	const { balances, ...about } = answer;
	return {
		...about,
		balances: balances.map(({ symbol, token, decimals, amount }) => ({
			symbol,
			token,
			decimals,
			...amountFields("amount", amount, { symbol, decimals }),
		})),
	};
}
