import type { Deployment } from "@geoswap/protocol";
import { stableFloor } from "@geoswap/sdk";
import { CliError } from "./cli-error.ts";
import type { Context } from "./context.ts";
import { exitCode } from "./exit-code.ts";
import { wholeTokens } from "./format-amount.ts";
import { maxUint256, parseAmount } from "./parse-amount.ts";
import { type Asset, findAsset, nativeOf } from "./pinned-assets.ts";
import { readBalances } from "./read-balance.ts";
import { checkAddress, findOwnAddress } from "./wallet.ts";

export type TermOptions = {
	from?: string;
	to?: string;
	amount?: string;
	receive?: string;
	recipient?: string;
	slippageBps?: string;
	topUp?: string;
	topUpUsd?: string;
	minOut?: string;
	maxSpend?: string;
};

/** The caller's request, with every name resolved by the pins. */
export type Terms = {
	from: Asset;
	to: Asset;
	/**
	 * In smallest units, or `max` for the wallet's whole balance. If the output is exact, the maximum that the wallet
	 * gives.
	 */
	amount: bigint | "max";
	/** The exact output, in smallest units. */
	receive: bigint | undefined;
	recipient: string | undefined;
	slippageBps: number | undefined;
	/** The fields of a quote's request that name the top-up. Empty if the options have none. */
	topUp: TopUpFields;
	minOutput: bigint | undefined;
	maxSpend: bigint | undefined;
};

export type TopUpFields = { topUp?: string; topUpUsd?: string };

/** `isUnlimited` is for callers that sign nothing, or set a limit later: an exact output needs no maximum then. */
export function readTerms(
	pins: Deployment,
	options: TermOptions,
	{ isUnlimited = false }: { isUnlimited?: boolean } = {},
): Terms {
	const from = findAsset(pins, "--from", required("--from", options.from));
	const to = findAsset(pins, "--to", required("--to", options.to));
	const { recipient, slippageBps, minOut } = options;
	const receive =
		options.receive === undefined ? undefined : parseAmount("--receive", options.receive, to.decimals);
	if (receive !== undefined && (options.amount !== undefined || minOut !== undefined)) {
		throw usage("--receive is the exact output, so it cannot be combined with --amount or --min-out.");
	}
	const maxSpend =
		options.maxSpend === undefined ? undefined : parseAmount("--max-spend", options.maxSpend, from.decimals);
	return {
		from,
		to,
		amount:
			receive === undefined
				? readInput(options, from)
				: (maxSpend ?? (isUnlimited ? maxUint256 : stableMaximum(pins, { from, to, receive }))),
		receive,
		recipient: recipient === undefined ? undefined : checkAddress("--recipient", to.chain, recipient),
		slippageBps: slippageBps === undefined ? undefined : parseBps(slippageBps, receive === undefined ? 1 : 0),
		topUp: readTopUp(options, to),
		minOutput: minOut === undefined ? undefined : parseAmount("--min-out", minOut, to.decimals),
		maxSpend,
	};
}

function readTopUp({ topUp, topUpUsd }: TermOptions, to: Asset): TopUpFields {
	if (topUp !== undefined && topUpUsd !== undefined) {
		throw usage("--top-up and --top-up-usd are two ways to write one amount. Use one of them.");
	}
	if (topUpUsd !== undefined) {
		if (/^\d{1,6}(\.\d{1,2})?$/.test(topUpUsd) && Number(topUpUsd) > 0) return { topUpUsd };
		throw usage(`--top-up-usd must be an amount in USD, such as 0.50, not "${topUpUsd}".`);
	}
	if (topUp === undefined) return {};
	const native = nativeOf(to.chain);
	if (native) return { topUp: String(parseAmount("--top-up", topUp, native.decimals)) };
	throw usage(`The deployment file has no native token of ${to.chain.name}. Leave --top-up out.`);
}

/** Returns a top-up of the fields of an intent or of a request. */
export function topUpOf({ topUp, topUpUsd }: TopUpFields): TopUpFields {
	return { ...(topUp !== undefined && { topUp }), ...(topUpUsd !== undefined && { topUpUsd }) };
}

/** Returns the top-up of an intent for the SDK. What a user approved in native units counts, not its value by now. */
export function topUpToSign({
	topUp,
	topUpUsd,
}: TopUpFields): { topUp: bigint } | { topUpUsd: string } | Record<string, never> {
	if (topUp !== undefined) return { topUp: BigInt(topUp) };
	return topUpUsd === undefined ? {} : { topUpUsd };
}

function readInput({ amount }: TermOptions, from: Asset): Terms["amount"] {
	const text = required("--amount", amount);
	return text === "max" ? "max" : parseAmount("--amount", text, from.decimals);
}

/** Returns the most that is given for an exact output between two stables, of which it is then at least 97 %. */
function stableMaximum(pins: Deployment, { from, to, receive }: { from: Asset; to: Asset; receive: bigint }) {
	const one = 10n ** BigInt(from.decimals);
	const floor = stableFloor(pins, {
		originChain: from.chain.chainId,
		destinationChain: to.chain.chainId,
		inputToken: from.address,
		outputToken: to.address,
		amount: one,
	});
	if (floor !== undefined) return (receive * one) / floor;
	throw usage(
		"--receive needs --max-spend, the most that your wallet may give, because no price is known here.",
	);
}

/** Returns the fields of a quote's request that say how much is swapped. */
export function amountsOf(
	amount: bigint,
	receive: bigint | undefined,
): { amount: string } | { outputAmount: string } {
	return receive === undefined ? { amount: String(amount) } : { outputAmount: String(receive) };
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
	throw usage(
		`There is no recipient on ${to.chain.name}. Pass an address with --recipient, or set the key of your wallet there.`,
	);
}

function required(option: string, value: string | undefined): string {
	if (value !== undefined) return value;
	throw usage(`${option} is missing. See geoswap swap --help.`);
}

function parseBps(text: string, minimum: number): number {
	const bps = Number(text);
	if (/^\d{1,4}$/.test(text) && bps >= minimum && bps <= 5000) return bps;
	throw usage(`--slippage-bps must be a whole number from ${minimum} to 5000, not "${text}".`);
}

function usage(message: string): CliError {
	return new CliError(message, { code: "USAGE", section: "swap" });
}
