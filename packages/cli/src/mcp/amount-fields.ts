import * as z from "zod";
import { CliError } from "../cli-error.ts";
import { wholeTokens } from "../format-amount.ts";
import type { PinnedAsset } from "../pinned-assets.ts";

type Fields<Name extends string, Value> = Record<Name | `${Name}Units`, Value>;

const units = z.string().regex(/^\d+$/).describe("In the token's smallest unit.");
const tokens = z.string().regex(/^\d+(\.\d+)? /);

/** Returns the two fields of an amount: `left` has whole tokens with their symbol, `leftUnits` smallest units. */
export function amountShape<Name extends string>(name: Name, meaning: string): Fields<Name, z.ZodString> {
	return {
		[name]: tokens.describe(`${meaning}, in whole tokens, such as "12.5 USDC".`),
		[`${name}Units`]: units,
	} as Fields<Name, z.ZodString>;
}

/** Returns an amount as the fields of `amountShape`. The symbol and the decimals come from the deployment file. */
export function amountFields<Name extends string>(
	name: Name,
	amount: bigint | string,
	asset: Pick<PinnedAsset, "symbol" | "decimals">,
): Fields<Name, string> {
	const fields = { [name]: wholeTokens(amount, asset), [`${name}Units`]: String(amount) };
	return fields as Fields<Name, string>;
}

/** Returns the amounts that were given, without their symbols. */
export function givenAmounts<Name extends string>(
	amounts: Record<Name, string | undefined>,
	asset: Pick<PinnedAsset, "symbol">,
): Partial<Record<Name, string>> {
	const entries = Object.entries<string | undefined>(amounts).flatMap(([name, text]) =>
		text === undefined ? [] : [[name, withoutSymbol(name, text, asset)]],
	);
	return Object.fromEntries(entries);
}

/** Returns the number of "12.5 USDC", as results have it, or of "12.5". Throws if the symbol is not the token's. */
function withoutSymbol(name: string, text: string, { symbol }: Pick<PinnedAsset, "symbol">): string {
	const space = text.indexOf(" ");
	if (space === -1) return text;
	if (text.slice(space + 1) === symbol) return text.slice(0, space);
	throw new CliError(`${name} is an amount of ${symbol}. Write it as a number, or with that symbol.`, {
		code: "INVALID_AMOUNT",
		section: "amounts",
		mayExecute: false,
	});
}
