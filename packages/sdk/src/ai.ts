import type { SwapRequest } from "./swap.ts";
import {
	type ModelSwapInput as AiSwapInput,
	type ModelSwapOutput as AiSwapOutput,
	type ModelSwapOptions,
	problemOf,
	swapForModel,
	swapProperties,
} from "./swap-for-model.ts";

export type { AiSwapInput, AiSwapOutput };

export type AiSwapOptions = ModelSwapOptions & {
	signer: SwapRequest["signer"];
	/** Names the conversation: with the id of the tool's call it names the swap, so that a replayed call swaps once. */
	conversation: string;
};

const jsonSchema = {
	type: "object",
	properties: swapProperties,
	required: Object.keys(swapProperties),
	additionalProperties: false,
};

/**
 * Returns a tool for the AI SDK, `generateText({ tools: { swap: swapTool(…) } })`, that swaps within a budget. Each call
 * needs approval. It returns once the swap is submitted, and the swap goes on.
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
			// Both texts are of any form: together they must not be those of another pair.
			const id = JSON.stringify(["ai", conversation, toolCallId]);
			const beforeSign = () => abortSignal?.throwIfAborted();
			return swapForModel(options, { id, input, signer, beforeSign });
		},
	};
}

type Issue = { message: string };

/** A schema by the Standard Schema interface, which the AI SDK takes: the package needs neither it nor zod. */
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
