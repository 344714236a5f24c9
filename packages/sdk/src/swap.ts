import type { QuoteRequestBody } from "@geoswap/protocol";
import { toJson } from "./answer.ts";
import type { Client } from "./create-client.ts";
import { signerOf } from "./evm-signer.ts";
import { expectApproved, slippageToKeep, tooLittle, tooMuch } from "./expect-approved.ts";
import { maxSecondsToOpen } from "./expected-order.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { getQuote, type Quote } from "./get-quote.ts";
import type { Swap } from "./get-status.ts";
import type { OriginSigner, Submission } from "./origin-signer.ts";
import { sendAgain } from "./send-again.ts";
import { sleep } from "./sleep.ts";
import { againMs, maxPauseMs, submitUntilKnown } from "./submit-until-known.ts";
import { expectSameIntent, readRecord, type SwapRecord, writeRecord } from "./swap-record.ts";
import type { SwapRequest } from "./swap-request.ts";
import { memoryStore, type SwapStore } from "./swap-store.ts";
import { type EndedSwap, waitForSwap } from "./wait-for-swap.ts";

/** Limit on quotes. After this many, another quote will not fix the problem. */
const maxQuotes = 5;
/** Upper bound on the life of a submission that has no `deadAt`. */
const maxLifeMs = Number(maxSecondsToOpen) * 1_000;

/**
 * Swaps: quotes, verifies, signs, submits and waits. Returns the swap once it has ended: `settled`, or `refunded` or
 * `failed` with the whole input in the wallet.
 *
 * The `mayExecute` of a thrown error states whether the intent may still be executed. If it may, call again with the
 * same id. An aborted signal's reason is thrown unchanged and does not state that, so call again in the same way.
 */
export async function swap(client: Client, request: SwapRequest): Promise<EndedSwap> {
	if (request.id !== undefined && !request.store) {
		throw new TypeError("an id needs a store that remembers it; pass both");
	}
	if (!Array.isArray(request.pins?.chains)) {
		throw new TypeError("pins is not a deployment; pass the operator's deployment.json, parsed");
	}
	const { id = crypto.randomUUID(), store = memoryStore(), signal } = request;
	const reached: Reached = { id: request.id };
	const signer = signerOf(request);
	let unlock: Awaited<ReturnType<SwapStore["lock"]>>;
	try {
		unlock = await store.lock(id);
		const record = await readRecord(store, id);
		if (record && "swapId" in record) reached.swapId = record.swapId;
		if (!unlock) throw inProgress(id);
		return await swapLocked(client, { ...request, id, store, signer, reached }, record);
	} catch (error) {
		// An op that an earlier call signed may still be executed, unless this call has determined that it cannot be.
		const told = outcome(error, { mayExecute: true, signal });
		throw told instanceof GeoswapError ? Object.assign(told, reached) : told;
	} finally {
		try {
			await unlock?.();
		} catch {
			// The swap's outcome matters more than the lock, which ends with its process.
		}
	}
}

/** The ids by which the caller can find the swap of an error. */
type Reached = { id: string | undefined; swapId?: string };

type Context = SwapRequest & {
	client: Client;
	intent: QuoteRequestBody;
	/** The intent that is quoted, if its slippage differs, or its top-up was approved in native units. */
	asked?: QuoteRequestBody;
	signer: OriginSigner;
	/** The quote of the current submission, if this call has signed it. */
	quote?: Quote;
	/** The minimum output and the input that `onBeforeSign` approved last. */
	approved?: { minOutput: bigint; amount: bigint };
};
type Signed = Extract<SwapRecord, { state: "signed" }>;

async function swapLocked(
	client: Client,
	request: SwapRequest & { id: string; store: SwapStore; signer: OriginSigner; reached: Reached },
	saved: SwapRecord | undefined,
): Promise<EndedSwap> {
	const { id, store, onProgress, reached } = request;
	const intent = intentOf(request);
	let record = saved;
	if (record) expectSameIntent(id, record.intent, intent);
	const kept = record?.minOutput === undefined ? request.outputAmount : BigInt(record.minOutput);
	const { minOutput = kept } = request;
	const limits = minOutput === undefined ? {} : { minOutput };
	const context: Context = { ...request, ...limits, client, intent };
	if (record && "swapId" in record) onProgress?.({ step: "resumed", swapId: record.swapId });

	for (let quotes = 0; record?.state !== "ended"; ) {
		let dead: GeoswapError | undefined;
		switch (record?.state) {
			case "submitted":
				record = await waitForEnd(context, record);
				break;
			case "signed": {
				const deadAtMs = deadAtMsOf(record);
				if (deadAtMs === undefined) {
					// The time is stored before the bytes are sent, so that a caller that resumes does not wait the
					// whole time again.
					const deadAt = new Date(Date.now() + maxLifeMs).toISOString();
					record = { ...record, submission: { ...record.submission, deadAt } };
					break;
				}
				const next: SwapRecord | GeoswapError = await submit(context, record, deadAtMs);
				if ("state" in next) record = next;
				else {
					dead = next;
					record = { intent, state: "open" };
				}
				break;
			}
			default:
				record = await quoteAndSign(context);
				reached.swapId = record.swapId;
				quotes++;
		}
		// The record is written before anything follows from it, so that a call after a crash in between finds it.
		await writeRecord(store, id, {
			...record,
			...(minOutput !== undefined && { minOutput: String(minOutput) }),
		});
		if (dead && (!isMendedByQuote(dead) || quotes >= maxQuotes))
			throw outcome(dead, { mayExecute: false, signal: request.signal });
	}
	return record.swap;
}

function intentOf(request: SwapRequest & { signer: OriginSigner }): QuoteRequestBody {
	const { originChain, destinationChain, inputToken, outputToken, recipient, slippageBps } = request;
	const { topUp, topUpUsd } = request;
	return {
		originChain,
		destinationChain,
		inputToken,
		outputToken,
		...(request.amount === undefined
			? { outputAmount: String(request.outputAmount) }
			: { amount: String(request.amount) }),
		walletAddress: request.signer.address,
		...(recipient !== undefined && { recipient }),
		...(slippageBps !== undefined && { slippageBps }),
		...(topUp !== undefined && { topUp: String(topUp) }),
		...(topUpUsd !== undefined && { topUpUsd }),
	};
}

/** Requests quotes until one is signed, after it was compared with the request. Submits nothing. */
async function quoteAndSign(context: Context): Promise<Signed> {
	const { client, intent, signer, onProgress, signal } = context;
	// The mandate is not part of the intent, because a call that resumes may bring a newer one.
	const mandated = signer.mandate && { mandate: signer.mandate };
	try {
		for (let quotes = 1; ; quotes++) {
			const asked = { ...(context.asked ?? intent), ...mandated };
			const quote = await sendAgain(() => getQuote(client, asked, { signal }), { signal });
			if (quote.minOutput < (context.minOutput ?? 0n)) throw tooLittle(quote, context.minOutput);
			if (context.maxInput !== undefined && quote.amount > context.maxInput)
				throw tooMuch(quote, context.maxInput);
			onProgress?.({ step: "quoted", quote });
			const slippageBps = slippageToKeep(context.approved?.minOutput, quote);
			if (slippageBps !== undefined && quotes < maxQuotes) {
				context.asked = { ...(context.asked ?? intent), slippageBps };
				continue;
			}
			await expectApproved(context, quote);
			context.quote = quote;
			try {
				return await signQuote(context, quote);
			} catch (error) {
				if (!(error instanceof GeoswapError) || !isMendedByQuote(error) || quotes === maxQuotes) throw error;
				// The build has already tried one authorization after the other.
				if (error.next === "reauthorize") throw error;
			}
		}
	} catch (error) {
		throw outcome(error, { mayExecute: false, signal });
	}
}

async function signQuote(context: Context, quote: Quote): Promise<Signed> {
	const { client, intent, asked = intent, signer, pins, approved, onProgress, signal } = context;
	const { minOutput: least = context.minOutput, amount: most = context.maxInput } = approved ?? {};
	const askedMs = Date.now();
	const submission = await signer.sign(client, {
		intent: asked,
		quote,
		pins,
		limits: {
			...(least !== undefined && { minOutput: least }),
			...(most !== undefined && { maxInput: most }),
		},
		onAuthorizing: () => onProgress?.({ step: "authorizing" }),
		signal,
	});
	// The submission was not sent to anyone yet. If the service would refuse it by now, it is dropped without a wait. If
	// it had expired before it was built, the local clock is ahead and does not show how long the wallet took, so the
	// service decides.
	const expiresAtMs = Date.parse(submission.expiresAt);
	if (expiresAtMs > askedMs && expiresAtMs <= Date.now()) throw signedTooLate(submission.expiresAt);
	const { swapId } = quote;
	onProgress?.({ step: "signed", swapId, expiresAt: submission.expiresAt });
	return { intent, state: "signed", swapId, submission };
}

/** Submits until there is a swap. If the signed bytes have expired, returns the error that explains the refusal. */
async function submit(
	context: Context,
	record: Signed,
	deadAtMs: number,
): Promise<SwapRecord | GeoswapError> {
	const { client, quote, signer, onProgress, signal } = context;
	const { submission, swapId } = record;
	const isFresh = quote?.swapId === swapId && Date.parse(quote.expiresAt) > Date.now();
	const known = await submitUntilKnown(client, submission, {
		swapId,
		deadAtMs,
		onRefused: (error) => onProgress?.({ step: "refused", error, expiresAt: submission.expiresAt }),
		onWaiting: (until) => onProgress?.({ step: "waiting", swapId, until }),
		// On an EVM chain all ops of one quote open the same order, once, so an op with a newer authorization may be sent
		// while the other one lives. On Solana it would be a second transfer.
		isEnough: (error) => isFresh && signer.origin === "evm" && error.next === "reauthorize",
		signal,
	});
	if (known.outcome === "taken") {
		onProgress?.({ step: "submitted", swapId });
		return { ...record, state: "submitted" };
	}
	if (known.outcome === "dead") return known.error;
	// A quote is signed again only once. A second refusal for the same reason is retried until the outcome is known.
	delete context.quote;
	if (!quote) return record;
	try {
		return await signQuote(context, quote);
	} catch (error) {
		if (error instanceof GeoswapError) return record;
		throw error;
	}
}

function deadAtMsOf({ submission }: { submission: Submission }): number | undefined {
	const deadAtMs = Date.parse(submission.deadAt ?? "");
	return Number.isNaN(deadAtMs) ? undefined : deadAtMs;
}

/**
 * Waits until the swap has ended. `failed` or `refunded` is trusted once no chain executes the submission any more,
 * because a service that reports it sooner may still execute the submission.
 */
async function waitForEnd(
	{ client, intent, onProgress, signal }: Context,
	record: Extract<SwapRecord, { state: "submitted" }>,
): Promise<SwapRecord> {
	const { swapId } = record;
	const deadAtMs = deadAtMsOf(record) ?? 0;
	let last = "";
	let isWaiting = false;
	const onUpdate = (status: Swap) => {
		const text = toJson(status);
		if (text !== last) onProgress?.({ step: "status", swap: status });
		last = text;
	};
	try {
		for (;;) {
			const ended = await waitForSwap(client, swapId, { onUpdate, ...(signal && { signal }) });
			const livesMs = deadAtMs - Date.now();
			if (ended.status === "settled" || livesMs < 0) return { intent, state: "ended", swap: ended };
			if (!isWaiting) onProgress?.({ step: "waiting", swapId, until: new Date(deadAtMs).toISOString() });
			isWaiting = true;
			await sleep(Math.min(livesMs + 1, maxPauseMs), signal);
		}
	} catch (error) {
		// A service that was restored from a backup has lost the swap, and finds it again by the submission.
		if (!(error instanceof GeoswapError) || error.code !== "SWAP_NOT_FOUND") throw error;
		// If the service accepts the submission each time and then loses it, this must not become a busy loop.
		await sleep(againMs, signal);
		return { ...record, state: "signed" };
	}
}

/** Returns true if a fresh quote may help, because it leads to a new price, deadline and authorization. */
function isMendedByQuote({ next }: GeoswapError): boolean {
	return next === "requote" || next === "rebuild" || next === "reauthorize";
}

/** Returns the error to throw. The code that first set `mayExecute` had the most precise knowledge. */
function outcome(
	error: unknown,
	{ mayExecute, signal }: { mayExecute: boolean; signal: AbortSignal | undefined },
): unknown {
	if (signal?.aborted && error === signal.reason) return error;
	const told = error instanceof GeoswapError ? error : interrupted(error);
	told.mayExecute ??= mayExecute;
	return told;
}

function interrupted(cause: unknown): GeoswapError {
	return new GeoswapError(
		`The store, the wallet or a callback failed (${cause instanceof Error ? cause.message : String(cause)}). Fix that, and call again with the same id.`,
		{ code: "INTERRUPTED", next: "retry", retryable: true, docs: "/docs/sdk.md", cause },
	);
}

function signedTooLate(expiresAt: string): GeoswapError {
	return new GeoswapError(
		`Nothing was sent, because what was signed had already expired at ${expiresAt}. Sign sooner, and check the clock of this machine.`,
		{ code: "OP_EXPIRED", next: "requote", retryable: false, docs: "/docs/sdk.md" },
	);
}

function inProgress(id: string): GeoswapError {
	return new GeoswapError(
		`Another call is working on ${id}. Wait for it; if its process is gone, call again.`,
		{ code: "SWAP_IN_PROGRESS", next: "retry", retryable: true, docs: "/docs/sdk.md" },
	);
}
