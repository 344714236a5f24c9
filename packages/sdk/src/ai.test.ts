import { generateText, isStepCount, type ModelMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeEach, expect, test } from "vitest";
import { makeBudget } from "../test/make-budget.ts";
import { startModelService } from "../test/model-service.ts";
import { account, makeIntent, makePins } from "../test/op-fixture.ts";
import { type AiSwapInput, swapTool } from "./ai.ts";
import { type BudgetLedger, openLedger } from "./budget-ledger.ts";
import { memoryStore, type SwapStore } from "./swap-store.ts";

// The model is the AI SDK's own mock, and the service is the tests' model of it.

const service = await startModelService();
service.knobs.settleMs = 0;
afterAll(() => service.close());

let ledger: BudgetLedger;
let store: SwapStore;
let before = 0;
const opened = () => service.openedBy(account.address).length - before;
beforeEach(() => {
	ledger = openLedger({ budget: makeBudget(), store: memoryStore() });
	store = memoryStore();
	before = service.openedBy(account.address).length;
});

const { originChain, destinationChain, inputToken, outputToken, recipient = "" } = makeIntent();
const input: AiSwapInput = {
	originChain: Number(originChain),
	destinationChain: Number(destinationChain),
	inputToken,
	outputToken,
	amount: "10000000",
	minOutput: "9900000",
	recipient,
};

const usage = {
	inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
	outputTokens: { total: 1, text: 1, reasoning: 0 },
};
type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

function calls(toolCallId: string, given: unknown): Generated {
	return {
		content: [{ type: "tool-call", toolCallId, toolName: "swap", input: JSON.stringify(given) }],
		finishReason: { unified: "tool-calls", raw: "tool_calls" },
		usage,
		warnings: [],
	};
}

function says(text: string): Generated {
	return {
		content: [{ type: "text", text }],
		finishReason: { unified: "stop", raw: "stop" },
		usage,
		warnings: [],
	};
}

function run(answers: Generated[], messages: ModelMessage[], conversation = "conversation-1") {
	const signer = account;
	const swap = swapTool({ client: service.client, ledger, store, signer, pins: makePins(), conversation });
	return generateText({
		model: new MockLanguageModelV4({ doGenerate: answers }),
		tools: { swap },
		stopWhen: isStepCount(3),
		messages,
	});
}

const user: ModelMessage[] = [{ role: "user", content: "swap 10 USDC" }];

/** Lets the model call the tool, and returns the messages with the user's answer. */
async function answered(toolCallId: string, isApproved: boolean, given: unknown = input) {
	const asked = await run([calls(toolCallId, given)], user);
	const request = asked.content.find((part) => part.type === "tool-approval-request");
	if (!request) throw new Error("no approval was requested");
	const { approvalId } = request;
	const answer: ModelMessage = {
		role: "tool",
		content: [{ type: "tool-approval-response", approvalId, approved: isApproved }],
	};
	return [...user, ...asked.responseMessages, answer];
}

function outputIn({ responseMessages }: { responseMessages: readonly unknown[] }): string {
	return JSON.stringify(responseMessages);
}

test("a call of the tool swaps nothing until it is approved", async () => {
	const messages = await answered("call-1", false);
	await run([says("then not")], messages);
	expect(opened()).toBe(0);
});

test("an approved call swaps once, regardless of how often its approval is replayed", async () => {
	const messages = await answered("call-1", true);
	const results = await Promise.all([1, 2, 3].map(() => run([says("done")], messages)));
	await run([says("done")], messages);
	expect(results.map(outputIn).some((text) => /"status":"(submitted|settled)"/.test(text))).toBe(true);
	expect(opened()).toBe(1);
});

test("the same call id in another conversation is another swap, and the budget holds for both", async () => {
	const messages = await answered("call-1", true);
	for (const conversation of ["one", "two", "three"]) await run([says("done")], messages, conversation);
	expect(opened()).toBe(2);
});

test("a swap outside the budget is refused with a code and the limit, without the message of an error", async () => {
	const messages = await answered("call-1", true, { ...input, amount: "10000001" });
	const text = outputIn(await run([says("refused")], messages));
	expect(text).toContain('"status":"not_swapped"');
	expect(text).toContain('"code":"BUDGET_REFUSED","limit":"perSwap"');
	expect(text).not.toContain("Nothing was signed");
	expect(opened()).toBe(0);
});

test("a call with other terms than the swap of its id is reported as that, during the swap and after it", async () => {
	service.knobs.settleMs = 1_500;
	await run([says("done")], await answered("call-1", true));
	service.knobs.settleMs = 0;
	const repeated = outputIn(await run([says("wait")], await answered("call-1", true)));
	expect(repeated).toMatch(/"status":"unknown","mayExecute":true,[^}]*"swapId":"swp_/);
	const messages = await answered("call-1", true, { ...input, amount: "9000000" });
	expect(outputIn(await run([says("wait")], messages))).toMatch(/"status":"id_used","mayExecute":true/);
	await expect
		.poll(async () => outputIn(await run([says("refused")], messages)))
		.toMatch(/"status":"id_used","mayExecute":false,[^}]*"code":"INTENT_CHANGED"/);
	expect(opened()).toBe(1);
});

test("a model names an exact output, gives as little as it takes, and never more than the amount", async () => {
	const exact: AiSwapInput = { ...input, exact: "output" };
	service.knobs.input = 9_950_000n;
	await run([says("done")], await answered("call-1", true, exact));
	expect(service.openedBy(account.address).at(-1)).toMatchObject({ inputAmount: 9_950_000n });
	expect(opened()).toBe(1);
	service.knobs.input = 10_000_001n;
	const text = outputIn(await run([says("refused")], await answered("call-2", true, exact)));
	expect(text).toContain('"code":"ABOVE_MAX_INPUT"');
	expect(opened()).toBe(1);
	service.knobs.input = 10_000_000n;
});

test("a model names a top-up in USD, which the order then has", async () => {
	await run([says("done")], await answered("call-1", true, { ...input, topUpUsd: "0.50" }));
	expect(service.openedBy(account.address).at(-1)).toMatchObject({ topUp: service.knobs.topUp });
});

test.each<[string, unknown]>([
	["a top-up in words", { ...input, topUpUsd: "a dollar" }],
	["a fraction", { ...input, amount: "1.5" }],
	["a number", { ...input, amount: 10 }],
	["a negative amount", { ...input, amount: "-1" }],
	["a missing minimum", { ...input, minOutput: undefined }],
	["an unknown field", { ...input, budget: "all" }],
	["a chain that is no number", { ...input, originChain: "31337" }],
	["nothing", null],
])("incomplete or inexact input never reaches the wallet: %s", async (_, given) => {
	await run([calls("call-1", given), says("sorry")], user).catch(() => undefined);
	expect(opened()).toBe(0);
});
