import { join } from "node:path";
import { openLedger } from "@geoswap/sdk/budget";
import { fileStore } from "@geoswap/sdk/file-store";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { CliError } from "../cli-error.ts";
import { type Call, type Context, openContext } from "../context.ts";
import { openApprovals } from "../mcp/approvals.ts";
import { createServer } from "../mcp/create-server.ts";
import { openOutsideApprovals } from "../mcp/outside-approvals.ts";
import type { Reading } from "../mcp/read-tools.ts";
import { serveHttp, tokenOf } from "../mcp/serve-http.ts";
import { openSwapRunner } from "../mcp/swap-runner.ts";
import type { Swapping } from "../mcp/swap-tool.ts";
import { readBudget } from "../read-budget.ts";

type McpOptions = { allowSwaps?: boolean; budget?: string; http?: string };

/** Time to submit what was signed before the process ends. It is resumed in any case. */
const drainMs = 10_000;

/** Serves MCP until the client closes the connection, or the program is interrupted. */
export async function mcpCommand(call: Call, options: McpOptions): Promise<void> {
	const port = portOf(options);
	const context = await openContext(call);
	const swapping = await openSwapping(context, options);
	const reading: Reading = { io: call.io, context, swapping };
	const factory = () => createServer(reading);
	await swapping?.runner.resume();
	if (port === undefined) {
		if (call.output.isJson)
			throw usage("--json is for --http, because on stdio stdout belongs to the protocol.");
		const handle = serveStdio(factory);
		await Promise.race([once(process.stdin, "close"), once(process.stdin, "end"), aborted(call.signal)]);
		await handle.close();
	} else {
		const token = tokenOf(call.io.env.GEOSWAP_MCP_TOKEN);
		const { url, close } = await serveHttp(factory, { port, token });
		await call.output.result({ url, token }, [
			["url", url],
			["token", token],
			["header", "Authorization: Bearer <token>"],
		]);
		await aborted(call.signal);
		await close();
	}
	await swapping?.runner.drain(drainMs);
	await swapping?.outside.close();
}

async function openSwapping(
	context: Context,
	{ allowSwaps, budget }: McpOptions,
): Promise<Swapping | undefined> {
	if (!allowSwaps) {
		if (budget === undefined) return undefined;
		throw usage("--budget is for --allow-swaps. Pass both, or neither.");
	}
	if (budget === undefined) throw usage("--allow-swaps needs a budget: --budget <file>.");
	const { config, keys } = context;
	const ledger = openLedger({
		budget: await readBudget(budget, { pins: config.pins, keys }),
		store: fileStore(join(config.home, "budget")),
	});
	const runner = openSwapRunner(context, ledger);
	return { context, ledger, runner, approvals: openApprovals(), outside: openOutsideApprovals(context) };
}

function portOf({ http }: McpOptions): number | undefined {
	if (http === undefined) return undefined;
	if (/^\d{1,5}$/.test(http) && Number(http) <= 65_535) return Number(http);
	throw usage(`--http must be a port from 0 to 65535, not "${http}".`);
}

function once(stream: NodeJS.ReadStream, event: "close" | "end"): Promise<void> {
	return new Promise((resolve) => stream.once(event, () => resolve()));
}

function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve();
		signal.addEventListener("abort", () => resolve(), { once: true });
	});
}

function usage(message: string): CliError {
	return new CliError(message, { code: "USAGE", section: "mcp" });
}
