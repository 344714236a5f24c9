import type {
	AuthorizationBody,
	Deployment,
	MandateJson,
	QuoteRequestBody,
	QuoteResponse,
	StatusResponse,
} from "@geoswap/protocol";
import type { WalletClient } from "viem";
import type { Client } from "./create-client.ts";
import type { EvmAccount } from "./evm-account.ts";
import { type EvmSignerOptions, signerOf } from "./evm-signer.ts";
import { natural } from "./expect-same.ts";
import { maxSecondsToOpen } from "./expected-order.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { getQuote } from "./get-quote.ts";
import type { OriginSigner, Submission } from "./origin-signer.ts";
import { sendAgain } from "./send-again.ts";
import { sleep } from "./sleep.ts";
import { stableFloor } from "./stable-floor.ts";
import { againMs, maxPauseMs, submitUntilKnown } from "./submit-until-known.ts";
import { expectSameIntent, readRecord, type SwapRecord, writeRecord } from "./swap-record.ts";
import { memoryStore, type SwapStore } from "./swap-store.ts";
import { unlessAborted } from "./unless-aborted.ts";
import { type EndedSwap, waitForSwap } from "./wait-for-swap.ts";

export type SwapRequest = {
	/**
	 * Identifies the intent. A call with the same id and store, after a crash or an abort, continues where the last one
	 * stopped, so one id becomes at most one swap. Without an id nothing is resumed. An id requires a store.
	 */
	id?: string;
	originChain: number;
	destinationChain: number;
	/** Addresses, as their chains write them. */
	inputToken: string;
	outputToken: string;
	/** The exact input, in the smallest unit. */
	amount: bigint;
	/** Required if origin and destination write addresses differently. */
	recipient?: string;
	slippageBps?: number;
	/**
	 * The minimum output to sign for, in the smallest unit, for all quotes of the intent. By default, it is 97 % of the
	 * input if the pins list both tokens as stables; any other minimum is signed only if `onBeforeSign` approves it. A
	 * call that resumes an intent without it uses the earlier one. What is already signed stays signed.
	 */
	minOutput?: bigint;
	/**
	 * Called before anything is signed. Return true to approve the terms. It may take any time. If the quote has expired
	 * by then, another quote that keeps the approved terms is signed, and this is called again only if no quote keeps
	 * them. Without it, a quote whose minimum neither `minOutput` nor the pins bound is refused with
	 * `PRICE_NOT_ACCEPTED`.
	 */
	onBeforeSign?: (terms: SwapTerms) => boolean | Promise<boolean>;
	/** An account or wallet client of viem, an object of the same form, or the result of `solanaSigner()`. */
	signer: EvmAccount | WalletClient | OriginSigner;
	/** By default, an EVM wallet keeps its delegate. For `typed-only`, see `evmSigner`, which has the same option. */
	delegate?: EvmSignerOptions["delegate"];
	/** The owner's mandate, from `createMandate`, if the signer is an agent's key. The mandate's wallet pays. */
	mandate?: MandateJson;
	/** The owner's authorization, with a mandate for a wallet that is not delegated yet. See `evmSigner`. */
	authorization?: AuthorizationBody;
	/** The deployment. Take it from a file that you trust, not from the service. */
	pins: Deployment;
	store?: SwapStore;
	onProgress?: (progress: SwapProgress) => void;
	/** Aborts the wait, never the swap. */
	signal?: AbortSignal;
};

/** The terms to sign for. The wallet gives at most `amount`, and `recipient` gets at least `minOutput`. */
export type SwapTerms = Pick<
	SwapRequest,
	"originChain" | "destinationChain" | "inputToken" | "outputToken" | "amount"
> & {
	walletAddress: string;
	recipient: string;
	minOutput: bigint;
	/** The quote that has these terms. */
	quote: QuoteResponse;
};

export type SwapProgress =
	| { step: "resumed"; swapId: string }
	| { step: "quoted"; quote: QuoteResponse }
	/** The wallet is about to sign a delegation, for its first swap from this chain or to change its delegate. */
	| { step: "authorizing" }
	| { step: "signed"; swapId: string; expiresAt: string }
	/** The service refuses the submission for now. It is sent again until it is accepted, or cannot be any more. */
	| { step: "refused"; error: GeoswapError; expiresAt: string }
	/**
	 * The service reports that the submission has expired, or that the swap failed or was refunded. This is not trusted
	 * until no chain executes the submission any more. Until then nothing else is signed, and no such end is returned.
	 */
	| { step: "waiting"; swapId: string; until: string }
	| { step: "submitted"; swapId: string }
	/** Reported whenever something about the swap has changed. */
	| { step: "status"; swap: StatusResponse };

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
		if (!unlock) throw inProgress(id);
		return await swapLocked(client, { ...request, id, store, signer, reached });
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
	/** The intent that is quoted, if its slippage differs. */
	asked?: QuoteRequestBody;
	signer: OriginSigner;
	/** The quote of the current submission, if this call has signed it. */
	quote?: QuoteResponse;
	/** The minimum that `onBeforeSign` approved last. */
	approved?: bigint;
};
type Signed = Extract<SwapRecord, { state: "signed" }>;

async function swapLocked(
	client: Client,
	request: SwapRequest & { id: string; store: SwapStore; signer: OriginSigner; reached: Reached },
): Promise<EndedSwap> {
	const { id, store, onProgress, reached } = request;
	const intent = intentOf(request, request.signer);
	let record = await readRecord(store, id);
	if (record && "swapId" in record) reached.swapId = record.swapId;
	if (record) expectSameIntent(id, record.intent, intent);
	const { minOutput = record?.minOutput === undefined ? undefined : BigInt(record.minOutput) } = request;
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
				if (next instanceof GeoswapError) dead = next;
				record = next instanceof GeoswapError ? { intent, state: "open" } : next;
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

function intentOf(request: SwapRequest, signer: OriginSigner): QuoteRequestBody {
	const { originChain, destinationChain, inputToken, outputToken, amount, recipient, slippageBps } = request;
	return {
		originChain,
		destinationChain,
		inputToken,
		outputToken,
		amount: String(amount),
		walletAddress: signer.address,
		...(recipient !== undefined && { recipient }),
		...(slippageBps !== undefined && { slippageBps }),
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
			const quoted = natural("quote.minOutput", quote.minOutput);
			if (quoted < (context.minOutput ?? 0n)) throw tooLittle(quote, context.minOutput);
			onProgress?.({ step: "quoted", quote });
			const slippageBps = slippageToKeep(context.approved, { quote, quoted });
			if (slippageBps !== undefined && quotes < maxQuotes) {
				context.asked = { ...intent, slippageBps };
				continue;
			}
			await expectApproved(context, { quote, quoted });
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

/**
 * Returns the slippage with which a quote like this one keeps the approved minimum, because prices move while the
 * caller decides. Undefined if the quote keeps it already, or if even its output is less.
 */
function slippageToKeep(
	approved = 0n,
	{ quote, quoted }: { quote: QuoteResponse; quoted: bigint },
): number | undefined {
	if (quoted >= approved) return undefined;
	const output = natural("quote.output", quote.output);
	const slippageBps = output > approved ? Number(((output - approved) * 10_000n) / output) : 0;
	return slippageBps >= 1 && slippageBps < quote.slippageBps ? slippageBps : undefined;
}

/** Throws unless this minimum was approved or, without `onBeforeSign`, the caller's minimum or the pins bound it. */
async function expectApproved(
	context: Context,
	{ quote, quoted }: { quote: QuoteResponse; quoted: bigint },
): Promise<void> {
	const { intent, pins, minOutput, approved, onBeforeSign, signal } = context;
	if (approved !== undefined && quoted >= approved) return;
	if (!onBeforeSign) {
		const floor = stableFloor(pins, intent);
		const least = minOutput ?? floor;
		if (least === undefined || quoted < least) throw notAccepted(quote, floor);
		return;
	}
	const { originChain, destinationChain, amount } = context;
	const { slippageBps: _, recipient = intent.walletAddress, ...named } = intent;
	const terms = { ...named, originChain, destinationChain, amount, recipient, minOutput: quoted, quote };
	if ((await unlessAborted(async () => onBeforeSign(terms), signal)) !== true) throw declined(quote);
	context.approved = quoted;
}

async function signQuote(
	{ client, intent, asked = intent, signer, pins, minOutput, approved, onProgress, signal }: Context,
	quote: QuoteResponse,
): Promise<Signed> {
	const least = approved ?? minOutput;
	const askedMs = Date.now();
	const submission = await signer.sign(client, {
		intent: asked,
		quote,
		pins,
		limits: { ...(least !== undefined && { minOutput: least }) },
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
	const onUpdate = (status: StatusResponse) => {
		const text = JSON.stringify(status);
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
		{ code: "INTERRUPTED", next: "retry", retryable: true, docs: "docs/sdk.md", cause },
	);
}

function signedTooLate(expiresAt: string): GeoswapError {
	return new GeoswapError(
		`Nothing was sent, because what was signed had already expired at ${expiresAt}. Sign sooner, and check the clock of this machine.`,
		{ code: "OP_EXPIRED", next: "requote", retryable: false, docs: "docs/sdk.md" },
	);
}

function notAccepted({ minOutput: quoted, summary }: QuoteResponse, floor: bigint | undefined): GeoswapError {
	const why =
		floor === undefined ? "no minOutput was given" : `97 % of the input is ${floor} (both tokens are stable)`;
	return new GeoswapError(
		`The quote was not signed: it promises at least ${quoted}, but ${why} (${summary}). Pass the minimum you accept as minOutput, or pass onBeforeSign; network costs can take more than 3 % of a small amount.`,
		{
			code: "PRICE_NOT_ACCEPTED",
			next: "fix_request",
			retryable: true,
			docs: "docs/sdk.md",
			details: { quoted, ...(floor !== undefined && { floor: String(floor) }) },
		},
	);
}

function declined({ minOutput: quoted, summary }: QuoteResponse): GeoswapError {
	return new GeoswapError(`The quote was not signed: onBeforeSign did not approve it (${summary}).`, {
		code: "DECLINED",
		next: "fix_request",
		retryable: true,
		docs: "docs/sdk.md",
		details: { quoted },
	});
}

function tooLittle(
	{ minOutput: quoted, summary }: QuoteResponse,
	minOutput: bigint | undefined,
): GeoswapError {
	return new GeoswapError(
		`The quote was not signed: it promises at least ${quoted}, but minOutput is ${minOutput} (${summary}). Try again later, or accept less.`,
		{
			code: "BELOW_MIN_OUTPUT",
			next: "fix_request",
			retryable: true,
			docs: "docs/sdk.md",
			details: { quoted, minOutput: String(minOutput) },
		},
	);
}

function inProgress(id: string): GeoswapError {
	return new GeoswapError(
		`Another call is working on ${id}. Wait for it; if its process is gone, call again.`,
		{ code: "SWAP_IN_PROGRESS", next: "retry", retryable: true, docs: "docs/sdk.md" },
	);
}
