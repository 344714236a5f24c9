import type { QuoteRequestBody, QuoteResponse } from "@geoswap/protocol";
import { natural } from "./expect-same.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { stableFloor } from "./stable-floor.ts";
import type { SwapRequest } from "./swap-request.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** A quote, and its minimum output as a number. */
type Priced = { quote: QuoteResponse; quoted: bigint };

/**
 * Throws unless this minimum was approved or, without `onBeforeSign`, the caller's minimum or the pins bound it. The
 * service alone must not choose the price that the wallet signs for.
 */
export async function expectApproved(
	context: SwapRequest & { intent: QuoteRequestBody; approved?: bigint },
	{ quote, quoted }: Priced,
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

/**
 * Returns the slippage with which a quote like this one keeps the approved minimum, because prices move while the
 * caller decides. Undefined if the quote keeps it already, or if even its output is less.
 */
export function slippageToKeep(approved = 0n, { quote, quoted }: Priced): number | undefined {
	if (quoted >= approved) return undefined;
	const output = natural("quote.output", quote.output);
	const slippageBps = output > approved ? Number(((output - approved) * 10_000n) / output) : 0;
	return slippageBps >= 1 && slippageBps < quote.slippageBps ? slippageBps : undefined;
}

function notAccepted({ minOutput: quoted, summary }: QuoteResponse, floor: bigint | undefined): GeoswapError {
	const why =
		floor === undefined ? "no minOutput was given" : `97 % of the input is ${floor} (both tokens are stable)`;
	return new GeoswapError(
		`The quote was not signed, because it promises at least ${quoted}, but ${why} (${summary}). Pass the minimum you accept as minOutput, or pass onBeforeSign; network costs can take more than 3 % of a small amount.`,
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
	return new GeoswapError(`The quote was not signed, because onBeforeSign did not approve it (${summary}).`, {
		code: "DECLINED",
		next: "fix_request",
		retryable: true,
		docs: "docs/sdk.md",
		details: { quoted },
	});
}

/** Returns the error for a quote that promises less than the caller's minimum. */
export function tooLittle(
	{ minOutput: quoted, summary }: QuoteResponse,
	minOutput: bigint | undefined,
): GeoswapError {
	return new GeoswapError(
		`The quote was not signed, because it promises at least ${quoted}, but minOutput is ${minOutput} (${summary}). Try again later, or accept less.`,
		{
			code: "BELOW_MIN_OUTPUT",
			next: "fix_request",
			retryable: true,
			docs: "docs/sdk.md",
			details: { quoted, minOutput: String(minOutput) },
		},
	);
}
