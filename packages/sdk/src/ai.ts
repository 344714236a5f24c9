import { signerOf } from "./evm-signer.ts";
import {
	type ModelField,
	minOutputField,
	optionalFields,
	problemOf,
	schemaOf,
	swapFields,
} from "./model-fields.ts";
import { type ReadTool, readTools } from "./read-for-model.ts";
import {
	type ModelSwapInput as AiSwapInput,
	type ModelSwapOutput as AiSwapOutput,
	type ModelSwapOptions,
	swapForModel,
} from "./swap-for-model.ts";
import type { SwapRequest } from "./swap-request.ts";

export type { AiSwapInput, AiSwapOutput };

export type AiSwapOptions = ModelSwapOptions & {
	signer: SwapRequest["signer"];
	/** Identifies the conversation. With the tool call's id it identifies the swap, so a replayed call swaps once. */
	conversation: string;
};

/**
 * Returns a tool for the AI SDK, `generateText({ tools: { swap: swapTool(…) } })`, that swaps within a budget. Each
 * call needs approval. It returns once the swap is submitted, and the swap then continues.
 */
export function swapTool({ signer, conversation, ...options }: AiSwapOptions) {
	return {
		description:
			"Gives tokens of the user's wallet for others, within a budget, after the user has approved it. If the status is unknown or submitted, never start another swap for the same purpose.",
		inputSchema: schemaFor<AiSwapInput>({ ...swapFields, minOutput: minOutputField }, optionalFields),
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

/**
 * Returns the tools `swap`, `quote`, `status`, `tokens` and `balances` for the AI SDK, `generateText({ tools:
 * geoswapTools(…) })`. Only `swap` signs, and only it needs approval.
 */
export function geoswapTools(options: AiSwapOptions) {
	const { client, pins, signer } = options;
	const { quote, status, tokens, balances } = readTools({
		client,
		pins,
		walletAddress: () => signerOf({ signer }).address,
	});
	return {
		swap: swapTool(options),
		quote: readTool(quote),
		status: readTool(status),
		tokens: readTool(tokens),
		balances: readTool(balances),
	};
}

function readTool<Input>({ description, required, optional, act }: ReadTool<Input>) {
	return { description, inputSchema: schemaFor<Input>(required, optional), execute: act };
}

type Fields = Readonly<Record<string, ModelField>>;
type Issue = { message: string };

/**
 * Returns a schema by the Standard Schema interface, which the AI SDK accepts. The package needs neither that SDK nor
 * zod.
 */
function schemaFor<Input>(required: Fields, optional: Fields) {
	const jsonSchema = schemaOf(required, optional);
	return {
		"~standard": {
			version: 1 as const,
			vendor: "geoswap",
			validate: (value: unknown): { value: Input } | { issues: readonly Issue[] } => {
				const problem = problemOf(value, required, optional);
				return problem === undefined ? { value: value as Input } : { issues: [{ message: problem }] };
			},
			jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
		},
	};
}
