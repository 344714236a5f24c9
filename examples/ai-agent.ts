import { waitForSwap } from "@geoswap/sdk";
import { type AiSwapInput, type AiSwapOutput, geoswapTools } from "@geoswap/sdk/ai";
import { openLedger } from "@geoswap/sdk/budget";
import { fileStore } from "@geoswap/sdk/file-store";
import { generateText, type ModelMessage } from "ai";
import { type Hex, parseUnits } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { chains, client, pins, tokenOf, variable } from "./environment.ts";
import { scriptedModel } from "./scripted-model.ts";

// An agent of the AI SDK swaps 10 USDC from one chain to another, within a budget, after the program's approval. It runs
// offline: its model is a script. With a model of your own, the rest stays as it is.
//
//   node examples/ai-agent.ts june .swaps      the same two arguments again are the same conversation, and the same swap
const [conversation = "june", directory = ".swaps"] = process.argv.slice(2);
const signer = privateKeyToAccount(variable("GEOSWAP_EVM_KEY") as Hex);
const from = { chainId: chains.one, token: tokenOf(chains.one, "USDC") };
const to = { chainId: chains.two, token: tokenOf(chains.two, "USDC") };

const store = fileStore(directory);
const ledger = openLedger({
	store,
	budget: {
		spend: [{ ...from, perSwap: parseUnits("20", 6), perDay: parseUnits("50", 6) }],
		routes: [{ from, to, worstPrice: { output: 97n, input: 100n } }],
		recipients: [signer.address],
	},
});
const terms: AiSwapInput = {
	originChain: from.chainId,
	destinationChain: to.chainId,
	inputToken: from.token,
	outputToken: to.token,
	amount: String(parseUnits("10", 6)),
	minOutput: String(parseUnits("9.8", 6)),
	recipient: signer.address,
};
const model = scriptedModel([
	{ call: { toolCallId: "call-1", toolName: "swap", input: terms } },
	{ text: "I have moved 10 USDC." },
]);
const agent = {
	model,
	tools: geoswapTools({ client, ledger, store, signer, pins, conversation }),
	// Without a secret, the AI SDK would execute a call whose arguments were changed after the approval.
	experimental_toolApprovalSecret: variable("GEOSWAP_API_KEY"),
};

const messages: ModelMessage[] = [{ role: "user", content: "Move 10 USDC to the second chain." }];
const asked = await generateText({ ...agent, messages });
const request = asked.content.find((part) => part.type === "tool-approval-request");
if (!request) throw new Error("the model did not ask to swap");

// A person would decide here. This program approves the swap that it expects.
console.error("asked to swap", request.toolCall.input);
const approved = JSON.stringify(request.toolCall.input) === JSON.stringify(terms);
const approval = { type: "tool-approval-response" as const, approvalId: request.approvalId, approved };
messages.push(...asked.responseMessages, { role: "tool", content: [approval] });
const done = await generateText({ ...agent, messages });
console.error("the model says:", done.text);

const result = done.responseMessages
	.flatMap((message) => (message.role === "tool" ? message.content : []))
	.find((part) => part.type === "tool-result");
const output = result?.output.type === "json" ? (result.output.value as AiSwapOutput) : undefined;
if (!output?.swapId) throw new Error(`nothing was swapped: ${JSON.stringify(result?.output)}`);
const { status, deliveryTxHash } = await waitForSwap(client, output.swapId);
console.log(status, deliveryTxHash);
