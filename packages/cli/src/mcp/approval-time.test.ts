import { join } from "node:path";
import { openLedger } from "@geoswap/sdk/budget";
import { fileStore } from "@geoswap/sdk/file-store";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { approved, callRaw } from "../../test/mcp-clients.ts";
import { startMcpWorld, usdc } from "../../test/mcp-world.ts";
import { openContext } from "../context.ts";
import type { Io } from "../io.ts";
import { readBudget } from "../read-budget.ts";
import { openApprovals } from "./approvals.ts";
import { createServer } from "./create-server.ts";
import { openOutsideApprovals } from "./outside-approvals.ts";
import { openSwapRunner } from "./swap-runner.ts";

// The server runs in this process, so that its clock can be set.

const world = await startMcpWorld();
afterAll(() => world.close());
const minuteMs = 60_000;
beforeEach(() => {
	vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
});
afterEach(() => {
	vi.useRealTimers();
});

const sink = { write: async () => {}, isTerminal: false, columns: () => undefined };
const io: Io = {
	env: world.env,
	stdout: sink,
	stderr: sink,
	isInteractive: false,
	openUrl: async () => false,
	onInterrupt: () => () => {},
};
const output = { isJson: false, say: () => {}, result: async () => {} };
const context = await openContext({ io, output, signal: new AbortController().signal });
const ledger = openLedger({
	budget: await readBudget(world.budgetFile, { pins: context.config.pins, keys: context.keys }),
	store: fileStore(join(world.home, "budget")),
});
const runner = openSwapRunner(context, ledger);
const outside = openOutsideApprovals(context, { waitForMs: 0 });
const swapping = { context, ledger, runner, approvals: openApprovals(), outside };
const { fetch: send } = createMcpHandler(() => createServer({ io, context, swapping }));

const server = { url: "http://127.0.0.1/mcp", token: "not checked here" };
const swap = (args: object, rest: { inputResponses?: unknown; requestState?: unknown } = {}) =>
	callRaw(server, { name: "swap", arguments: args, ...rest }, { send });

/** Calls, lets this much time pass, and approves. */
async function approveAfter(args: object, passedMs: number) {
	const { result } = await swap(args);
	vi.setSystemTime(Date.now() + passedMs);
	return swap(args, { inputResponses: approved, requestState: result?.requestState });
}

const terms = { from: usdc.origin, to: usdc.destination };

test("an approval after five minutes executes within its terms, with a fresh quote", async () => {
	world.model.knobs.quoteMs = 30_000;
	const { result } = await approveAfter({ id: "late", amount: "5", ...terms }, 5 * minuteMs);
	expect(result?.structuredContent).toMatchObject({ status: expect.stringMatching(/submitted|settled/) });
	expect(world.opened()).toHaveLength(1);
});

test("if the price no longer meets the terms of an approval, nothing is swapped", async () => {
	const args = { id: "worse", amount: "6", ...terms };
	const { result } = await swap(args);
	const before = world.model.knobs.output;
	world.model.knobs.output = (before * 98n) / 100n;
	const late = await swap(args, { inputResponses: approved, requestState: result?.requestState });
	world.model.knobs.output = before;
	expect(late.result?.structuredContent).toMatchObject({
		status: "not_swapped",
		error: { code: "BELOW_MIN_OUTPUT" },
	});
	expect((await ledger.list()).map(({ id }) => id)).toEqual(["mcp-late"]);
});

test("an approval after fifteen minutes is refused", async () => {
	const { error } = await approveAfter({ id: "too-late", amount: "7", ...terms }, 15 * minuteMs + 2_000);
	expect(error?.code).toBe(-32602);
	expect(world.opened().map(({ inputAmount }) => inputAmount)).toEqual([5_000_000n]);
});
