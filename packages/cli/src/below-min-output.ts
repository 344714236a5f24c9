import { CliError } from "./cli-error.ts";
import { exitCode } from "./exit-code.ts";
import { formatAmount } from "./format-amount.ts";
import type { Asset } from "./pinned-assets.ts";

/** Before anything is signed: the price is not what the caller accepts. */
export function belowMinOutput(
	{ decimals, symbol }: Pick<Asset, "decimals" | "symbol">,
	{ quoted, minOutput }: { quoted: string; minOutput: string },
): CliError {
	const shown = (units: string) => `${formatAmount(units, decimals)} ${symbol}`;
	return new CliError(
		`The quote was not signed: it promises at least ${shown(quoted)}, and --min-out is ${shown(minOutput)}. Ask again later, or accept less.`,
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
