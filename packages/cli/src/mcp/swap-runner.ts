import { isSolana } from "@geoswap/protocol";
import type { EndedSwap, Swap } from "@geoswap/sdk";
import { type BudgetLedger, swapWithinBudget } from "@geoswap/sdk/budget";
import { CliError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { assetOf } from "../execute-swap.ts";
import { exitCode } from "../exit-code.ts";
import { expectSame } from "../expect-same.ts";
import { type Intent, type Intents, mayExecute, openIntents } from "../intents.ts";
import { topUpToSign } from "../read-terms.ts";
import { refusalInTokens } from "../refusal-in-tokens.ts";
import { readSigner } from "../wallet.ts";
import type { ApprovedTerms } from "./approvals.ts";
import { approvedFields, type CalledTerms, findOtherTerms } from "./other-terms.ts";
import { type ToolError, toolError } from "./tool-result.ts";

/** The known state of an intent. `unknown`: something was signed, or is about to be, and may execute. */
export type SwapReport = { swapId?: string; error?: ToolError } & (
	| { status: EndedSwap["status"]; funds: Swap["funds"] | undefined }
	| { status: "submitted" | "unknown" | "not_swapped" | "awaiting_approval" }
	/** The id belongs to a swap with other terms, which may execute or not. */
	| { status: "id_used"; mayExecute: boolean }
);

/** The work on one intent in this process. */
type Job = {
	swapId?: string;
	/** Resolves once there is a swap, or once it is known that there is none. */
	submitted: Promise<void>;
	ended: Promise<SwapReport>;
};

export type SwapRunner = ReturnType<typeof openSwapRunner>;

/** Less than the 60 seconds after which clients time out. */
const patienceMs = 40_000;
/** The intents of models have a separate prefix, so that a model cannot name an intent that a user began. */
const prefix = "mcp-";

export function intentIdOf(id: string): string {
	return `${prefix}${id}`;
}

/** Runs approved swaps in the background, each id once, and reports their progress. */
export function openSwapRunner(
	context: Pick<Context, "config" | "client" | "keys" | "output">,
	ledger: BudgetLedger,
) {
	const { config, client, keys, output } = context;
	const intents = openIntents(config.home);
	const jobs = new Map<string, Job>();

	const start = (id: string, work: (onSubmitted: (swapId: string) => void) => Promise<EndedSwap>): Job => {
		const { promise: submitted, resolve } = Promise.withResolvers<void>();
		const job: Job = {
			submitted,
			ended: work((swapId) => {
				job.swapId = swapId;
				resolve();
			})
				.then(({ swapId, status, funds }): SwapReport => ({ swapId, status, funds }))
				.catch(async (error: unknown) => failedReport(error, { config, intents, id, swapId: job.swapId }))
				.then((report) => {
					output.say(["swap", `${id} ${report.status} ${report.error?.code ?? report.swapId ?? ""}`]);
					return report;
				})
				.finally(() => {
					jobs.delete(id);
					resolve();
				}),
		};
		jobs.set(id, job);
		return job;
	};

	/** Starts or continues a swap. Requires that the intent is stored and locked. */
	const swapStored = async (
		intent: Intent,
		{ beforeSign, onSubmitted }: { beforeSign: () => void; onSubmitted: (swapId: string) => void },
	): Promise<EndedSwap> => {
		const signer = await readSigner(keys, isSolana(intent.originChain) ? "solana" : "evm");
		expectSame(intent, { baseUrl: config.baseUrl, walletAddress: signer.address }, [
			"baseUrl",
			"walletAddress",
		]);
		return swapWithinBudget(client, ledger, {
			id: intent.id,
			originChain: intent.originChain,
			destinationChain: intent.destinationChain,
			inputToken: intent.inputToken,
			outputToken: intent.outputToken,
			...(intent.outputAmount === undefined
				? { amount: BigInt(intent.amount) }
				: { outputAmount: BigInt(intent.outputAmount), maxInput: BigInt(intent.amount) }),
			recipient: intent.recipient ?? intent.walletAddress,
			minOutput: BigInt(intent.minOutput ?? 0),
			...(intent.slippageBps !== undefined && { slippageBps: intent.slippageBps }),
			...topUpToSign(intent),
			signer,
			pins: config.pins,
			store: intents.records,
			beforeSign,
			onProgress: (step) => {
				if (step.step === "submitted") onSubmitted(step.swapId);
			},
		}).catch((error: unknown) => {
			const from = assetOf(config, intent.originChain, intent.inputToken);
			const to = assetOf(config, intent.destinationChain, intent.outputToken);
			throw refusalInTokens(error, from, intent.outputAmount === undefined ? from : to);
		});
	};

	/** Continues with what was signed. Signs nothing, because there is no approval now. */
	const follow = (intent: Intent): Job =>
		jobs.get(intent.id) ??
		start(intent.id, async (onSubmitted) => {
			const unlock = await intents.lock(intent.id);
			try {
				const record = await intents.recordOf(intent.id);
				if (record.state === "submitted") onSubmitted(record.swapId);
				if (mayExecute(record) || record.state === "ended")
					return await swapStored(intent, { beforeSign: refuseToSign, onSubmitted });
				// Nothing that was signed can still execute, and while this process has the lock no other process signs.
				const reserved = (await ledger.list()).find(({ id }) => id === intent.id);
				if (reserved) await ledger.release(reserved);
				return refuseToSign();
			} finally {
				await unlock().catch(() => {});
			}
		});

	/** Returns the report of an intent, or undefined if there is none or if nothing signed for it can still execute. */
	const find = async (id: string): Promise<SwapReport | undefined> => {
		// The work on a swap is not over at the moment when its end is stored.
		const ended = await intents.findEnd(id);
		if (ended) return { swapId: ended.swapId, status: ended.status, funds: ended.funds };
		const job = jobs.get(id);
		if (job) return reportOf(job);
		const intent = await intents.find(id);
		if (!intent) return undefined;
		const state = await intents.stateOf(id);
		if (state.state === "none" || state.state === "open") return undefined;
		if (state.state === "working" || state.state === "unreadable") return { status: "unknown" };
		return reportOf(follow(intent));
	};

	return {
		intents,
		find,
		/** Returns the report of a call that failed with this error. An earlier call with its id may have swapped. */
		failed: async (id: string, error: unknown): Promise<SwapReport> => {
			const report = await failedReport(error, { config, intents, id, swapId: jobs.get(id)?.swapId });
			return jobs.has(id) ? { ...report, status: "unknown" } : report;
		},
		/** Returns the error of a call whose id was used for other terms, or undefined. */
		findOtherTerms: async (terms: CalledTerms): Promise<ToolError | undefined> => {
			const intent = await intents.find(terms.id);
			return intent && findOtherTerms(config.pins, intent, terms);
		},
		/** Swaps on approved terms, and returns once the swap is submitted. `beforeSign` throws if the swap is unwanted. */
		swap: async (terms: ApprovedTerms, beforeSign: () => void): Promise<SwapReport> => {
			const { id } = terms;
			const job =
				jobs.get(id) ??
				start(id, async (onSubmitted) => {
					const unlock = await intents.lock(id);
					try {
						const found = await intents.find(id);
						if (found) expectSame(found, terms, approvedFields(found));
						const record = await intents.recordOf(id);
						const isBegun = mayExecute(record) || record.state === "ended";
						const intent: Intent =
							found && isBegun
								? found
								: { version: 1, createdAt: new Date().toISOString(), isMax: false, ...terms };
						if (intent !== found) await intents.keep(intent);
						return await swapStored(intent, { beforeSign, onSubmitted });
					} finally {
						await unlock().catch(() => {});
					}
				});
			return reportOf(job);
		},
		/** Continues swaps that an earlier process left, and releases reservations of swaps that took nothing. */
		resume: async (): Promise<void> => {
			for (const { id } of await ledger.list()) {
				if (!id.startsWith(prefix) || (await intents.findEnd(id))?.status === "settled") continue;
				const intent = await intents.find(id).catch(() => undefined);
				if (intent) follow(intent);
			}
		},
		/** Waits until what was signed is submitted, for a limited time. It can be resumed in any case. */
		drain: async (limitMs: number): Promise<void> => {
			await withTimeout(Promise.all([...jobs.values()].map(({ submitted }) => submitted)), limitMs);
		},
	};
}

async function reportOf(job: Job): Promise<SwapReport> {
	await withTimeout(job.submitted, patienceMs);
	// An end that is already known is reported immediately.
	const ended = await withTimeout(job.ended, 0);
	if (ended) return ended;
	return job.swapId === undefined ? { status: "unknown" } : { status: "submitted", swapId: job.swapId };
}

async function failedReport(
	error: unknown,
	{
		config,
		intents,
		id,
		swapId: known,
	}: { config: Context["config"]; intents: Intents; id: string; swapId: string | undefined },
): Promise<SwapReport> {
	const told = await toolError(error, config.pins);
	const state = await intents.recordOf(id);
	const swapId = known ?? ("swapId" in state ? state.swapId : undefined);
	const isAlive = mayExecute(state) || told.mayExecute === true;
	return {
		status: isAlive ? "unknown" : "not_swapped",
		...(swapId !== undefined && isAlive && { swapId }),
		error: told,
	};
}

function refuseToSign(): never {
	throw new CliError("Nothing was swapped, and nothing that was signed can be executed any more.", {
		code: "NOT_SUBMITTED",
		exit: exitCode.refused,
		section: "resuming",
		mayExecute: false,
	});
}

/** Resolves to undefined if the work takes longer. */
async function withTimeout<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
	const { promise, resolve } = Promise.withResolvers<undefined>();
	const timer = setTimeout(() => resolve(undefined), limitMs);
	try {
		return await Promise.race([work, promise]);
	} finally {
		clearTimeout(timer);
	}
}
