import { CliError } from "./cli-error.ts";

export const maxUint256 = (1n << 256n) - 1n;

/** Converts whole tokens, as users write them, to smallest units. Throws rather than round. */
export function parseAmount(option: string, text: string, decimals: number): bigint {
	const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
	if (!match) {
		throw invalid(option, `"${text}" is not an amount. Write digits with at most one point, such as 12.5`);
	}
	const [, whole = "", fraction = ""] = match;
	if (fraction.length > decimals) {
		throw invalid(
			option,
			`${text} has ${fraction.length} decimals, but the token has ${decimals}. Amounts are not rounded. Write at most ${decimals}`,
		);
	}
	const units = BigInt(whole + fraction.padEnd(decimals, "0"));
	if (units === 0n) throw invalid(option, "the amount is zero. Write more");
	if (units > maxUint256) throw invalid(option, `${text} is more than any token can hold. Write less`);
	return units;
}

function invalid(option: string, what: string): CliError {
	return new CliError(`${option}: ${what}.`, { code: "INVALID_AMOUNT", section: "amounts" });
}
