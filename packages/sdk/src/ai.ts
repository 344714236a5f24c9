import type { BudgetLedger } from "./budget-ledger.ts";
import type { Client } from "./create-client.ts";
import { GeoswapError } from "./geoswap-error.ts";
import type { SwapRequest } from "./swap.ts";
import type { SwapStore } from "./swap-store.ts";
import { swapWithinBudget } from "./swap-within-budget.ts";

/** The arguments that a model gives: complete terms, so that what is approved is what is signed. */
export type AiSwapInput = {
	originChain: number;
	destinationChain: number;
	inputToken: string;
	outputToken: string;
	/** In the input token's smallest unit. */
	amount: string;
	/** In the output token's smallest unit. */
	minOutput: string;
	recipient: string;
};

/** The result that a model gets. It holds no bigint, which the AI SDK could not store. */
export type AiSwapOutput = {
	id: string;
	swapId?: string;
	/** `unknown`: something was signed and may execute. `not_swapped`: nothing was taken, and nothing will be. */
	status: "submitted" | "settled" | "refunded" | "failed" | "unknown" | "not_swapped";
	mayExecute: boolean;
	advice: string;
	code?: string;
};

export type AiSwapOptions = {
	client: Client;
	ledger: BudgetLedger;
	store: SwapStore;
	signer: SwapRequest["signer"];
	pins: SwapRequest["pins"];
	/** Names the conversation: with the id of the tool's call it names the swap, so that a replayed call swaps once. */
	conversation: string;
};

const uint = { type: "string", pattern: "^[1-9][0-9]{0,77}$" } as const;
const chainId = { type: "integer", minimum: 1 } as const;
const address = { type: "string", minLength: 1, maxLength: 100 } as const;
const properties = {
	originChain: { ...chainId, description: "Id of the chain that the input is on." },
	destinationChain: { ...chainId, description: "Id of the chain to deliver on." },
	inputToken: { ...address, description: "Address of the token to give." },
	outputToken: { ...address, description: "Address of the token to get." },
	amount: { ...uint, description: "Amount to give, in the smallest unit of the input token." },
	minOutput: {
		...uint,
		description: "The least output to accept, in the smallest unit of the output token.",
	},
	recipient: { ...address, description: "Address that gets the output." },
} as const;
const required = Object.keys(properties) as (keyof AiSwapInput)[];
const jsonSchema = { type: "object", properties, required, additionalProperties: false };

/**
 * Returns a tool for the AI SDK, `generateText({ tools: { swap: swapTool(…) } })`, that swaps within a budget. Each call
 * needs approval. It returns once the swap is submitted, and the swap goes on.
 */
export function swapTool({ client, ledger, store, signer, pins, conversation }: AiSwapOptions) {
	return {
		description:
			"Gives tokens of the user's wallet for others, within a budget, after the user has approved it. If the status is unknown or submitted, never start another swap for the same purpose.",
		inputSchema: standardSchema,
		needsApproval: true,
		execute: async (
			input: AiSwapInput,
			{ toolCallId, abortSignal }: { toolCallId: string; abortSignal?: AbortSignal | undefined },
		): Promise<AiSwapOutput> => {
			// Both texts are of any form: together they must not be those of another pair.
			const id = JSON.stringify(["ai", conversation, toolCallId]);
			const { promise: submitted, resolve: onSubmitted } = Promise.withResolvers<AiSwapOutput>();
			const ended = swapWithinBudget(client, ledger, {
				...input,
				amount: BigInt(input.amount),
				minOutput: BigInt(input.minOutput),
				id,
				store,
				signer,
				pins,
				beforeSign: () => abortSignal?.throwIfAborted(),
				onProgress: ({ step, ...about }) => {
					if (step === "submitted" && "swapId" in about)
						onSubmitted(outputOf(id, { status: "submitted", swapId: about.swapId }));
				},
			}).then(
				({ status, swapId }) => outputOf(id, { status, swapId }),
				(error: unknown) => outputOfError(id, error),
			);
			return Promise.race([submitted, ended]);
		},
	};
}

const advice = {
	submitted: "The swap is under way. Never start another for the same purpose.",
	settled: "The recipient has the output.",
	refunded: "The whole input is back in the wallet.",
	failed: "Nothing was taken.",
	unknown: "It is not known yet whether this swap executes: follow it, never start another.",
	not_swapped: "Nothing was taken, and nothing will be.",
} satisfies Record<AiSwapOutput["status"], string>;

function outputOf(
	id: string,
	{ status, ...rest }: Pick<AiSwapOutput, "status" | "swapId" | "code">,
): AiSwapOutput {
	const mayExecute = status === "submitted" || status === "unknown";
	return { id, status, mayExecute, advice: advice[status], ...rest };
}

/** The message is left out: it may hold texts of the service, and a model would read them. */
function outputOfError(id: string, error: unknown): AiSwapOutput {
	if (!(error instanceof GeoswapError)) return outputOf(id, { status: "unknown" });
	const { code, swapId } = error;
	return outputOf(id, {
		status: error.mayExecute === false ? "not_swapped" : "unknown",
		code: /^[A-Z_]{1,40}$/.test(code) ? code : "UNEXPECTED_RESPONSE",
		...(swapId !== undefined && error.mayExecute !== false && { swapId }),
	});
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

function problemOf(value: unknown): string | undefined {
	if (typeof value !== "object" || value === null) return "the input is not an object";
	const given = value as Record<string, unknown>;
	const unknown = Object.keys(given).find((name) => !(required as string[]).includes(name));
	if (unknown !== undefined) return "there is an unknown field";
	return required.find((name) => !isValid(properties[name], given[name]));
}

function isValid(schema: (typeof properties)[keyof AiSwapInput], value: unknown): boolean {
	if (schema.type === "integer") return Number.isSafeInteger(value) && Number(value) >= 1;
	if (typeof value !== "string") return false;
	return "pattern" in schema ? new RegExp(schema.pattern).test(value) : value !== "" && value.length <= 100;
}
