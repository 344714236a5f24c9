import {
	type ModelSwapInput as AiSwapInput,
	type ModelSwapOutput as AiSwapOutput,
	type ModelSwapOptions,
	optionalProperties,
	problemOf,
	swapForModel,
	swapProperties,
} from "./swap-for-model.ts";
import type { SwapRequest } from "./swap-request.ts";

export type { AiSwapInput, AiSwapOutput };

export type AiSwapOptions = ModelSwapOptions & {
	signer: SwapRequest["signer"];
	/** Identifies the conversation. With the tool call's id it identifies the swap, so a replayed call swaps once. */
	conversation: string;
};

const jsonSchema = {
	type: "object",
	properties: { ...swapProperties, ...optionalProperties },
	required: Object.keys(swapProperties),
	additionalProperties: false,
};

/**
 * Returns a tool for the AI SDK, `generateText({ tools: { swap: swapTool(…) } })`, that swaps within a budget. Each
 * call needs approval. It returns once the swap is submitted, and the swap then continues.
 */
export function swapTool({ signer, conversation, ...options }: AiSwapOptions) {
	return {
		description:
			"Gives tokens of the user's wallet for others, within a budget, after the user has approved it. If the status is unknown or submitted, never start another swap for the same purpose.",
		inputSchema: standardSchema,
		needsApproval: true,
		execute: (
			input: AiSwapInput,
			{ toolCallId, abortSignal }: { toolCallId: string; abortSignal?: AbortSignal | undefined },
		): Promise<AiSwapOutput> => {
			// Both ids are arbitrary texts. JSON keeps two pairs from having the same swap id.
			const id = JSON.stringify(["ai", conversation, toolCallId]);
			const beforeSign = () => abortSignal?.throwIfAborted();
			return swapForModel(options, { id, input, signer, beforeSign });
		},
	};
}

type Issue = { message: string };

/** A schema by the Standard Schema interface, which the AI SDK accepts. The package needs neither that SDK nor zod. */
const standardSchema = {
	"~standard": {
		version: 1 as const,
		vendor: "geoswap",
		validate: (value: unknown): { value: AiSwapInput } | { issues: readonly Issue[] } => {
			const problem = problemOf(value);
			return problem === undefined ? { value: value as AiSwapInput } : { issues: [{ message: problem }] };
		},
		jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
	},
};
