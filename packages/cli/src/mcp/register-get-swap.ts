import { fromSwapId } from "@geoswap/protocol";
import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { CliError } from "../cli-error.ts";
import { openIntents } from "../intents.ts";
import { type CurrentReport, currentReport } from "./current-report.ts";
import { type Reading, reads } from "./read-tools.ts";
import { swapDocument, swapResultSchema } from "./swap-document.ts";
import { intentIdOf, type SwapReport } from "./swap-runner.ts";
import { errorResult, resultOf, toolError } from "./tool-result.ts";

export function registerGetSwap(server: McpServer, reading: Reading): void {
	const inputSchema = z.strictObject({
		id: z
			.string()
			.min(1)
			.max(100)
			.describe("The id that a swap was requested with, or a swap's own id, swp_…"),
		waitSeconds: z.int().min(0).max(15).optional().describe("How long to wait for its end."),
	});
	const { pins } = reading.context.config;
	server.registerTool(
		"get_swap",
		{
			title: "Follow a swap",
			description:
				"Returns how far a swap is. If its status is unknown, call this again; never start another.",
			inputSchema,
			outputSchema: swapResultSchema,
			annotations: reads,
		},
		async ({ id, waitSeconds = 0 }, ctx): Promise<CallToolResult> => {
			try {
				const report = await findReport(reading, { id, waitSeconds, signal: ctx.mcpReq.signal });
				return resultOf(swapResultSchema, swapDocument(pins, id, report));
			} catch (error) {
				if (error instanceof CliError && error.code === "UNKNOWN_ID") return errorResult(error);
				// If the service does not respond, or does not have the swap, its end is unknown.
				const report = { status: "unknown" as const, error: await toolError(error) };
				return { ...resultOf(swapResultSchema, swapDocument(pins, id, report)), isError: true };
			}
		},
	);
}

type Asked = { id: string; waitSeconds: number; signal: AbortSignal };

async function findReport({ context, swapping }: Reading, asked: Asked): Promise<CurrentReport> {
	const { id, ...options } = asked;
	const intents = openIntents(context.config.home);
	const report = fromSwapId(id) === undefined ? await reportOf(intentIdOf(id)) : await endOf(id);
	const swapId = report.status === "submitted" ? report.swapId : undefined;
	return swapId === undefined ? report : currentReport(context.client, swapId, options);

	async function reportOf(intentId: string): Promise<SwapReport> {
		if (!(await intents.find(intentId))) throw unknownId(id);
		const report = swapping ? await swapping.runner.find(intentId) : await storedReport(intentId);
		return report ?? { status: "not_swapped" };
	}

	/** Returns the end that is stored for the swap, so that every tool reports the same one. */
	async function endOf(swapId: string): Promise<SwapReport> {
		const intentId = (await intents.idsBySwap()).get(swapId);
		const ended = intentId === undefined ? undefined : await intents.findEnd(intentId);
		return ended ? { swapId, status: ended.status, funds: ended.funds } : { status: "submitted", swapId };
	}

	async function storedReport(intentId: string): Promise<SwapReport | undefined> {
		const state = await intents.stateOf(intentId);
		if (state.state === "none" || state.state === "open") return undefined;
		const ended = await intents.findEnd(intentId);
		if (ended) return { swapId: ended.swapId, status: ended.status, funds: ended.funds };
		return "swapId" in state ? { status: "submitted", swapId: state.swapId } : { status: "unknown" };
	}
}

function unknownId(id: string): CliError {
	return new CliError(
		`${id} is neither a swap's id (swp_…) nor an id that swap was called with. See get_history.`,
		{ code: "UNKNOWN_ID", section: "mcp" },
	);
}
