import { CliError } from "./cli-error.ts";
import { exitCode } from "./exit-code.ts";
import { wholeTokens } from "./format-amount.ts";
import type { Asset } from "./pinned-assets.ts";

type Shown = Pick<Asset, "decimals" | "symbol">;

/** Returns the error for a price below what the caller accepts, before anything is signed. */
export function belowMinOutput(
	to: Shown,
	{ quoted, minOutput }: { quoted: string; minOutput: string },
): CliError {
	const shown = shownIn(to);
	return new CliError(
		`The quote was not signed, because it promises at least ${shown(quoted)}, but --min-out is ${shown(minOutput)}. Try again later, or accept less.`,
		{
			code: "BELOW_MIN_OUTPUT",
			exit: exitCode.refused,
			retryable: true,
			section: "amounts",
			details: { quoted, minOutput },
			mayExecute: false,
		},
	);
}

/** Returns the error for a minimum that no limit of the caller allows and no user accepted. Nothing is signed yet. */
export function priceNotAccepted(
	to: Shown,
	{ quoted, floor, wasAsked }: { quoted: string; floor: string | undefined; wasAsked: boolean },
): CliError {
	const why = wasAsked
		? "you did not accept it"
		: `${reasonToAsk(to, floor)}, and there is no terminal for a prompt. Pass --min-out with the minimum you accept, or --accept-any-price`;
	return new CliError(
		`The quote was not signed, because it promises at least ${shownIn(to)(quoted)}, but ${why}.`,
		{
			code: "PRICE_NOT_ACCEPTED",
			exit: exitCode.refused,
			retryable: true,
			section: "amounts",
			details: { quoted, ...(floor !== undefined && { floor }) },
			mayExecute: false,
		},
	);
}

/** Returns why a minimum is signed only once a user accepts it. */
export function reasonToAsk(to: Shown, floor: string | undefined): string {
	return floor === undefined
		? "no --min-out was given"
		: `97 % of what you give is ${shownIn(to)(floor)}, and both tokens are stable (network costs can take more than 3 % of a small amount)`;
}

function shownIn({ decimals, symbol }: Shown): (units: string) => string {
	return (units) => wholeTokens(units, { symbol, decimals });
}
