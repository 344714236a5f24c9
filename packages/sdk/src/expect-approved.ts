import type { QuoteRequestBody } from "@geoswap/protocol";
import { GeoswapError } from "./geoswap-error.ts";
import type { Quote } from "./get-quote.ts";
import { stableFloor } from "./stable-floor.ts";
import type { SwapRequest } from "./swap-request.ts";
import { unlessAborted } from "./unless-aborted.ts";

/**
 * Throws unless this minimum was approved or, without `onBeforeSign`, the caller's minimum or the pins bound it. The
 * service alone must not choose the price that the wallet signs for.
 */
export async function expectApproved(
	context: SwapRequest & {
		intent: QuoteRequestBody;
		asked?: QuoteRequestBody;
		approved?: { minOutput: bigint; amount: bigint };
	},
	quote: Quote,
): Promise<void> {
	const { intent, pins, minOutput, approved, onBeforeSign, signal } = context;
	const { minOutput: quoted } = quote;
	const { amount = quote.amount } = context;
	if (approved && quoted >= approved.minOutput && amount <= approved.amount) return;
	if (!onBeforeSign) {
		const floor = stableFloor(pins, { ...intent, amount });
		const least = minOutput ?? floor;
		if (least === undefined || quoted < least) throw notAccepted(quote, floor);
		return;
	}
	const { originChain, destinationChain } = context;
	const { slippageBps: _, outputAmount: __, topUpUsd, recipient = intent.walletAddress, ...named } = intent;
	const topUp = BigInt(quote.topUp ?? 0);
	const terms = {
		...named,
		originChain,
		destinationChain,
		amount,
		recipient,
		minOutput: quoted,
		topUp,
		quote,
	};
	if ((await unlessAborted(async () => onBeforeSign(terms), signal)) !== true) throw declined(quote);
	context.approved = { minOutput: quoted, amount };
	if (topUpUsd === undefined) return;
	// Later quotes are for the top-up that was approved, regardless of the native token's price by then.
	const { topUpUsd: ___, ...asked } = context.asked ?? intent;
	context.asked = { ...asked, topUp: String(topUp) };
}

/**
 * Returns the slippage with which a quote like this one keeps the approved minimum, because prices move while the
 * caller decides. Undefined if the quote keeps it already, or if even its output is less.
 */
export function slippageToKeep(
	approved = 0n,
	{ output, minOutput, slippageBps: quoted }: Quote,
): number | undefined {
	if (minOutput >= approved) return undefined;
	const slippageBps = output > approved ? Number(((output - approved) * 10_000n) / output) : 0;
	return slippageBps >= 1 && slippageBps < quoted ? slippageBps : undefined;
}

function notAccepted({ minOutput: quoted, summary }: Quote, floor: bigint | undefined): GeoswapError {
	const why =
		floor === undefined ? "no minOutput was given" : `97 % of the input is ${floor} (both tokens are stable)`;
	return new GeoswapError(
		`The quote was not signed, because it promises at least ${quoted}, but ${why} (${summary}). Pass the minimum you accept as minOutput, or pass onBeforeSign; network costs can take more than 3 % of a small amount.`,
		{
			code: "PRICE_NOT_ACCEPTED",
			next: "fix_request",
			retryable: true,
			docs: "/docs/sdk.md",
			details: { quoted: String(quoted), ...(floor !== undefined && { floor: String(floor) }) },
		},
	);
}

function declined({ minOutput: quoted, summary }: Quote): GeoswapError {
	return new GeoswapError(`The quote was not signed, because onBeforeSign did not approve it (${summary}).`, {
		code: "DECLINED",
		next: "fix_request",
		retryable: true,
		docs: "/docs/sdk.md",
		details: { quoted: String(quoted) },
	});
}

/** Returns the error for a quote that takes more than the caller's maximum. */
export function tooMuch({ amount, summary }: Quote, maxInput: bigint): GeoswapError {
	return new GeoswapError(
		`The quote was not signed, because it takes ${amount}, but maxInput is ${maxInput} (${summary}). Try again later, or give more.`,
		{
			code: "ABOVE_MAX_INPUT",
			next: "fix_request",
			retryable: true,
			docs: "/docs/sdk.md",
			details: { quoted: String(amount), maxInput: String(maxInput) },
		},
	);
}

/** Returns the error for a quote that promises less than the caller's minimum. */
export function tooLittle(
	{ minOutput: quoted, summary }: Quote,
	minOutput: bigint | undefined,
): GeoswapError {
	return new GeoswapError(
		`The quote was not signed, because it promises at least ${quoted}, but minOutput is ${minOutput} (${summary}). Try again later, or accept less.`,
		{
			code: "BELOW_MIN_OUTPUT",
			next: "fix_request",
			retryable: true,
			docs: "/docs/sdk.md",
			details: { quoted: String(quoted), minOutput: String(minOutput) },
		},
	);
}
