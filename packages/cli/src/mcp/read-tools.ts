import { fromSwapId, swapStatuses } from "@geoswap/protocol";
import { GeoswapError, getStatus } from "@geoswap/sdk";
import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { CliError } from "../cli-error.ts";
import { balanceCommand } from "../commands/balance.ts";
import { chainsCommand } from "../commands/chains.ts";
import { delegationCommand } from "../commands/delegation.ts";
import { historyCommand } from "../commands/history.ts";
import { quoteCommand } from "../commands/quote.ts";
import { tokensCommand } from "../commands/tokens.ts";
import type { Call, Context } from "../context.ts";
import { openIntents } from "../intents.ts";
import { fundsSchema, swapDocument, swapResultSchema } from "./swap-document.ts";
import { intentIdOf, type SwapReport } from "./swap-runner.ts";
import { type Swapping, termsShape } from "./swap-tool.ts";
import { dataText, errorResult, resultOf, resultSchema, toolError, units } from "./tool-result.ts";

/** The dependencies of the tools that read. `swapping` is missing if the server does not swap. */
export type Reading = {
	io: Call["io"];
	context: Pick<Context, "config" | "client">;
	swapping: Swapping | undefined;
};

const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };
const chainText = z.string().max(100).describe("A chain, by its id or name.");
const walletText = z.string().max(100).describe("An address; the user's own wallet by default.");
const assetShape = {
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
						kind: z.enum(["evm", "solana"]),
						live: z.boolean(),
						paused: dataText.optional(),
						differs: z.array(dataText).describe("Nothing is signed for a chain that differs."),
						hasRpc: z.boolean().describe("Whether balances can be read."),
					}),
				),
			},
		},
		async (_, call, answered) => {
			await chainsCommand(call);
			return answered();
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
			return answered();
		},
	);
	tool(
		"get_quote",
		{
			title: "Quote a swap",
			description: "Returns what a swap would give now. Signs nothing and reserves nothing.",
			args: z.strictObject(termsShape),
			fields: {
				from: z.object({ ...assetShape, amount: units, wallet: dataText }),
				to: z.object(assetShape),
				quote: z.object({
					output: units.describe("The expected output, in the smallest unit of `to`."),
					minOutput: units.describe("The least output, in the smallest unit of `to`."),
					recipient: dataText,
					slippageBps: z.int(),
					feeBps: z.number(),
					etaSeconds: z.number(),
					expiresAt: dataText,
					warnings: z.array(z.object({ code: dataText })).optional(),
				}),
			},
		},
		async ({ slippageBps, recipient, ...terms }, call, answered) => {
			await quoteCommand(call, {
				...terms,
				...(recipient !== undefined && { recipient }),
				...(slippageBps !== undefined && { slippageBps: String(slippageBps) }),
			});
			return answered();
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
									amount: units,
									shown: dataText.describe("In whole tokens."),
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
			return answered();
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
				blocked: dataText.optional(),
				delegate: dataText.optional(),
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
						stage: dataText.optional(),
						createdAt: dataText,
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
			return answered();
		},
	);
	registerGetSwap(server, reading);
	if (reading.swapping) registerGetBudget(server, reading.swapping);
}

function registerGetSwap(server: McpServer, reading: Reading): void {
	const inputSchema = z.strictObject({
		id: z
			.string()
			.min(1)
			.max(100)
			.describe("The id that a swap was asked for with, or a swap's own id, swp_…"),
		waitSeconds: z.int().min(0).max(15).optional().describe("How long to wait for its end."),
	});
	server.registerTool(
		"get_swap",
		{
			title: "Follow a swap",
			description: "Tells how far a swap is. If its status is unknown, call this again; never start another.",
			inputSchema,
			outputSchema: swapResultSchema,
			annotations: reads,
		},
		async ({ id, waitSeconds = 0 }, ctx): Promise<CallToolResult> => {
			try {
				const report = await findReport(reading, { id, waitSeconds, signal: ctx.mcpReq.signal });
				return resultOf(swapResultSchema, swapDocument(id, report));
			} catch (error) {
				if (error instanceof CliError && error.code === "UNKNOWN_ID") return errorResult(error);
				// If the service does not respond, or does not have the swap, its end is unknown.
				const report = { status: "unknown" as const, error: await toolError(error) };
				return { ...resultOf(swapResultSchema, swapDocument(id, report)), isError: true };
			}
		},
	);
}

type Asked = { id: string; waitSeconds: number; signal: AbortSignal };

async function findReport({ context, swapping }: Reading, asked: Asked) {
	const { id, waitSeconds, signal } = asked;
	const isSwapId = fromSwapId(id) !== undefined;
	const intents = openIntents(context.config.home);
	let report: SwapReport | undefined;
	if (!isSwapId) {
		const intentId = intentIdOf(id);
		if (!(await intents.find(intentId))) throw unknownId(id);
		report = swapping ? await swapping.runner.find(intentId) : await storedReport(intentId);
		report ??= { status: "not_swapped" };
	}
	const swapId = isSwapId ? id : report?.swapId;
	const isOver = report !== undefined && report.status !== "submitted";
	if (swapId === undefined || isOver) return report ?? { status: "unknown" as const };
	const swap = await getStatus(context.client, swapId, { waitSeconds, signal });
	if (swap.swapId !== swapId || !swapStatuses.includes(swap.status)) throw notItsAnswer();
	const { status, stage, funds, failure } = swap;
	return {
		swapId,
		stage,
		funds,
		...(failure !== undefined && { failure: failure.code }),
		// An end that the SDK has not confirmed is unverified. It is reported, and the budget does not rely on it.
		status: status === "pending" ? ("submitted" as const) : status,
	};

	async function storedReport(intentId: string): Promise<SwapReport | undefined> {
		const state = await intents.stateOf(intentId);
		if (state.state === "none" || state.state === "open") return undefined;
		const ended = await intents.findEnd(intentId);
		if (ended) return { swapId: ended.swapId, status: ended.status, funds: ended.funds };
		return "swapId" in state ? { status: "submitted", swapId: state.swapId } : { status: "unknown" };
	}
}

function registerGetBudget(server: McpServer, { ledger }: Swapping): void {
	const outputSchema = resultSchema({
		spend: z.array(
			z.object({
				chainId: z.int(),
				token: dataText,
				perSwap: units,
				perDay: units,
				left: units.describe("What is left of perDay now."),
			}),
		),
		routes: z.array(
			z.object({
				from: z.object({ chainId: z.int(), token: dataText }),
				to: z.object({ chainId: z.int(), token: dataText }),
			}),
		),
		recipients: z.array(dataText),
	});
	server.registerTool(
		"get_budget",
		{
			title: "Read the budget",
			description: "Tells what swap may spend, on what, and for whom. Only the user can change it.",
			inputSchema: z.strictObject({}),
			outputSchema,
			annotations: { ...reads, openWorldHint: false },
		},
		async (): Promise<CallToolResult> => {
			try {
				const { spend, routes, recipients } = ledger.budget;
				const limits = await Promise.all(
					spend.map(async (limit) => ({ ...limit, left: await ledger.left(limit) })),
				);
				return resultOf(outputSchema, { spend: limits, routes, recipients });
			} catch (error) {
				return errorResult(error);
			}
		},
	);
}

function unknownId(id: string): CliError {
	return new CliError(
		`${id} is neither a swap's id (swp_…) nor an id that swap was called with. See get_history.`,
		{ code: "UNKNOWN_ID", section: "mcp" },
	);
}

function notItsAnswer(): GeoswapError {
	return new GeoswapError("The service did not answer with the status of that swap. Ask again.", {
		code: "UNEXPECTED_RESPONSE",
		next: "retry",
		retryable: true,
		docs: "docs/mcp.md",
	});
}
