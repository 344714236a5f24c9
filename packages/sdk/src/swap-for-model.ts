import { type BudgetLedger, type BudgetLimit, budgetLimits } from "./budget-ledger.ts";
import type { Client } from "./create-client.ts";
import { GeoswapError, type GeoswapErrorCode } from "./geoswap-error.ts";
import { codeForModel } from "./read-for-model.ts";
import { expectSameIntent, getSwapState, readRecord } from "./swap-record.ts";
import type { SwapRequest } from "./swap-request.ts";
import type { SwapStore } from "./swap-store.ts";
import { swapWithinBudget } from "./swap-within-budget.ts";

/** The arguments of a model. The terms are complete, so that what is approved is what is signed. */
export type ModelSwapInput = {
	originChain: number;
	destinationChain: number;
	inputToken: string;
	outputToken: string;
	/** In the input token's smallest unit. */
	amount: string;
	/** In the output token's smallest unit. */
	minOutput: string;
	recipient: string;
	/**
	 * The side that is exact. `output`: the wallet gives as little as `minOutput` takes, at most `amount`. The default is
	 * `input`.
	 */
	exact?: "input" | "output" | undefined;
	/** Native token that the recipient gets in addition to the output, for its gas, by its value in USD. */
	topUpUsd?: string | undefined;
};

/** The result for a model. It holds no bigint, which JSON does not have. */
export type ModelSwapOutput = {
	id: string;
	swapId?: string;
	/**
	 * `unknown`: something was signed and may execute. `not_swapped`: nothing was taken, and nothing will be. `id_used`:
	 * the id belongs to a swap with other terms, which may execute or not.
	 */
	status: "submitted" | "settled" | "refunded" | "failed" | "unknown" | "not_swapped" | "id_used";
	mayExecute: boolean;
	advice: string;
	code?: string;
	/** The limit of the budget that refused the swap. */
	limit?: BudgetLimit;
};

/** The options that all of a model's swaps share. */
export type ModelSwapOptions = {
	client: Client;
	ledger: BudgetLedger;
	store: SwapStore;
	pins: SwapRequest["pins"];
};

/** Swaps as a model requests, within the budget, and returns once the swap is submitted. The swap then continues. */
export function swapForModel(
	{ client, ledger, store, pins }: ModelSwapOptions,
	{
		id,
		input,
		signer,
		beforeSign,
	}: {
		id: string;
		input: ModelSwapInput;
		signer: SwapRequest["signer"];
		beforeSign: () => void | Promise<void>;
	},
): Promise<ModelSwapOutput> {
	const { promise: submitted, resolve: onSubmitted } = Promise.withResolvers<ModelSwapOutput>();
	const ended = swapWithinBudget(client, ledger, {
		...termsOf(input),
		id,
		store,
		signer,
		pins,
		beforeSign,
		onProgress: ({ step, ...about }) => {
			if (step === "submitted" && "swapId" in about)
				onSubmitted(outputOf(id, { status: "submitted", swapId: about.swapId }));
		},
	}).then(
		({ status, swapId }) => outputOf(id, { status, swapId }),
		async (thrown: unknown) => {
			const error = await compareTerms(thrown, { store, id, input });
			if (!isOwn(error, "INTENT_CHANGED")) return outputOfError(id, error);
			const output = outputOf(id, { status: "id_used", code: error.code });
			return { ...output, mayExecute: await isAlive(store, id) };
		},
	);
	return Promise.race([submitted, ended]);
}

/** Returns the arguments that have the same names in requests of the service, without those that were left out. */
function namedTerms({ amount: _, minOutput: __, exact: ___, topUpUsd, ...named }: ModelSwapInput) {
	return { ...named, ...(topUpUsd !== undefined && { topUpUsd }) };
}

function termsOf(input: ModelSwapInput) {
	const { amount, minOutput, exact } = input;
	const limits =
		exact === "output"
			? { outputAmount: BigInt(minOutput), maxInput: BigInt(amount) }
			: { amount: BigInt(amount) };
	return { ...namedTerms(input), ...limits, minOutput: BigInt(minOutput) };
}

const advice = {
	submitted: "The swap is under way. Never start another for the same purpose.",
	settled: "The recipient has the output.",
	refunded: "The whole input is back in the wallet.",
	failed: "Nothing was taken.",
	unknown: "This swap may still execute. Follow it, and never start another.",
	not_swapped: "Nothing was taken, and nothing will be.",
	id_used: "Nothing was done for this call, because its id belongs to a swap with other terms.",
} satisfies Record<ModelSwapOutput["status"], string>;

function outputOf(
	id: string,
	{ status, ...rest }: Pick<ModelSwapOutput, "status" | "swapId" | "code" | "limit">,
): ModelSwapOutput {
	const mayExecute = status === "submitted" || status === "unknown";
	return { id, status, mayExecute, advice: advice[status], ...rest };
}

/** The service may respond with any code, so an error that has a status does not count. */
function isOwn(error: unknown, code: GeoswapErrorCode): error is GeoswapError {
	return error instanceof GeoswapError && error.code === code && error.status === undefined;
}

/** Returns the error. If another call works on the id, with other terms, returns the error for those terms instead. */
async function compareTerms(
	error: unknown,
	{ store, id, input }: { store: SwapStore; id: string; input: ModelSwapInput },
): Promise<unknown> {
	if (!isOwn(error, "SWAP_IN_PROGRESS")) return error;
	try {
		const record = await readRecord(store, id);
		if (!record) return error;
		const { minOutput, amount, exact } = input;
		const terms = {
			...namedTerms(input),
			...(exact === "output" ? { outputAmount: minOutput } : { amount }),
		};
		expectSameIntent(id, record.intent, { ...terms, walletAddress: record.intent.walletAddress });
		if ("swapId" in record) error.swapId ??= record.swapId;
		return error;
	} catch (other) {
		return other;
	}
}

/** Returns true if the swap that has the id may still execute. */
async function isAlive(store: SwapStore, id: string): Promise<boolean> {
	const { state } = await getSwapState(store, id).catch(() => ({ state: "signed" }));
	return state === "signed" || state === "submitted";
}

/** Leaves the message out, because it may hold texts of the service, and a model would read them. */
function outputOfError(id: string, error: unknown): ModelSwapOutput {
	if (!(error instanceof GeoswapError)) return outputOf(id, { status: "unknown" });
	const { swapId } = error;
	const limit = budgetLimits.find((one) => error.code === "BUDGET_REFUSED" && one === error.details?.limit);
	return outputOf(id, {
		status: error.mayExecute === false ? "not_swapped" : "unknown",
		code: codeForModel(error),
		...(limit !== undefined && { limit }),
		...(swapId !== undefined && error.mayExecute !== false && { swapId }),
	});
}
