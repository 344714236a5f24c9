import { MockLanguageModelV4 } from "ai/test";

type Step = { text: string } | { call: { toolCallId: string; toolName: string; input: unknown } };

const usage = {
	inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
	outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** Returns a model that answers with these steps in turn, so that an example needs no service of a model. */
export function scriptedModel(steps: readonly Step[]): MockLanguageModelV4 {
	return new MockLanguageModelV4({
		doGenerate: steps.map((step) =>
			"text" in step
				? {
						content: [{ type: "text", text: step.text }],
						finishReason: { unified: "stop", raw: "stop" },
						usage,
						warnings: [],
					}
				: {
						content: [{ type: "tool-call", ...step.call, input: JSON.stringify(step.call.input) }],
						finishReason: { unified: "tool-calls", raw: "tool_calls" },
						usage,
						warnings: [],
					},
		),
	});
}
