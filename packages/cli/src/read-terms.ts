import type { Deployment } from "@geoswap/protocol";
import { CliError } from "./cli-error.ts";
import type { Context } from "./context.ts";
import { exitCode } from "./exit-code.ts";
import { wholeTokens } from "./format-amount.ts";
import { parseAmount } from "./parse-amount.ts";
import { type Asset, findAsset } from "./pinned-assets.ts";
import { readBalances } from "./read-balance.ts";
import { checkAddress, findOwnAddress } from "./wallet.ts";

export type TermOptions = {
	from?: string;
	to?: string;
	amount?: string;
	recipient?: string;
	slippageBps?: string;
	minOut?: string;
	maxSpend?: string;
};

/** The caller's request, with every name resolved by the pins. */
export type Terms = {
	from: Asset;
	to: Asset;
	/** In smallest units, or `max` for the wallet's whole balance. */
	amount: bigint | "max";
	recipient: string | undefined;
	slippageBps: number | undefined;
	minOutput: bigint | undefined;
	maxSpend: bigint | undefined;
};

export function readTerms(pins: Deployment, options: TermOptions): Terms {
	const from = findAsset(pins, "--from", required("--from", options.from));
	const to = findAsset(pins, "--to", required("--to", options.to));
	const amount = required("--amount", options.amount);
	const { recipient, slippageBps, minOut, maxSpend } = options;
	return {
		from,
		to,
		amount: amount === "max" ? "max" : parseAmount("--amount", amount, from.decimals),
		recipient: recipient === undefined ? undefined : checkAddress("--recipient", to.chain, recipient),
		slippageBps: slippageBps === undefined ? undefined : parseBps(slippageBps),
		minOutput: minOut === undefined ? undefined : parseAmount("--min-out", minOut, to.decimals),
		maxSpend: maxSpend === undefined ? undefined : parseAmount("--max-spend", maxSpend, from.decimals),
	};
}

/** Returns smallest units. Gas is paid from the input, so `max` leaves nothing, not even of a native token. */
export async function readAmount(
	config: Context["config"],
	{ from, amount }: Pick<Terms, "from" | "amount">,
	wallet: string,
): Promise<bigint> {
	if (amount !== "max") return amount;
	const [balance = 0n] = await readBalances(config, from.chain, { wallet, assets: [from] });
	if (balance > 0n) return balance;
	throw new CliError(`${wallet} holds no ${from.symbol} on ${from.chain.name}. Fund it, then try again.`, {
		code: "NO_BALANCE",
		exit: exitCode.refused,
		next: "fund_wallet",
		retryable: true,
		section: "amounts",
		mayExecute: false,
	});
}

export function expectWithinMaxSpend(
	{ from, maxSpend }: Pick<Terms, "from" | "maxSpend">,
	amount: bigint,
): void {
	if (maxSpend === undefined || amount <= maxSpend) return;
	const shown = (units: bigint) => wholeTokens(units, from);
	throw new CliError(
		`Nothing was signed by this call, because the amount is ${shown(amount)}, but --max-spend is ${shown(maxSpend)}. Swap less, or raise --max-spend.`,
		{
			code: "ABOVE_MAX_SPEND",
			exit: exitCode.refused,
			section: "amounts",
			details: { amount: String(amount), maxSpend: String(maxSpend) },
			mayExecute: false,
		},
	);
}

/** Returns the recipient if it is not the wallet itself, since other kinds of chains write addresses differently. */
export async function readRecipient(
	keys: Context["keys"],
	{ from, to, recipient }: Pick<Terms, "from" | "to" | "recipient">,
): Promise<string | undefined> {
	if (recipient !== undefined || from.chain.kind === to.chain.kind) return recipient;
	const own = await findOwnAddress(keys, to.chain.kind);
	if (own !== undefined) return own;
	throw new CliError(
		`There is no recipient on ${to.chain.name}. Pass an address with --recipient, or set the key of your wallet there.`,
		{ code: "USAGE", section: "swap" },
	);
}

function required(option: string, value: string | undefined): string {
	if (value !== undefined) return value;
	throw new CliError(`${option} is missing. See geoswap swap --help.`, { code: "USAGE", section: "swap" });
}

function parseBps(text: string): number {
	const bps = Number(text);
	if (/^\d{1,4}$/.test(text) && bps >= 1 && bps <= 5000) return bps;
	throw new CliError(`--slippage-bps must be a whole number from 1 to 5000, not "${text}".`, {
		code: "USAGE",
		section: "swap",
	});
}
