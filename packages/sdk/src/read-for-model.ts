import { type Deployment, swapStatuses } from "@geoswap/protocol";
import { formatUnits } from "viem";
import type { Client } from "./create-client.ts";
import { isSame } from "./expect-same.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { getDelegation } from "./get-delegation.ts";
import { getQuote } from "./get-quote.ts";
import { getStatus } from "./get-status.ts";
import { getTokens } from "./get-tokens.ts";
import { type ModelField, optionalFields, swapFields } from "./model-fields.ts";
import { pinnedAsset } from "./stable-floor.ts";

/** A tool for a model that reads and signs nothing. */
export type ReadTool<Input> = {
	description: string;
	required: Record<string, ModelField>;
	optional: Record<string, ModelField>;
	act: (input: Input) => Promise<object>;
};

export type ModelQuoteInput = {
	originChain: number;
	destinationChain: number;
	inputToken: string;
	outputToken: string;
	recipient: string;
	/** Exactly one of the two, in the token's smallest unit. */
	amount?: string | undefined;
	outputAmount?: string | undefined;
	topUpUsd?: string | undefined;
};

type Reading = {
	client: Client;
	pins: Deployment;
	/** Returns the address of the wallet whose swaps are quoted. */
	walletAddress: () => string;
};

const { originChain, amount, recipient, ...route } = swapFields;
const swapId = { type: "string", pattern: "^swp_[0-9a-z]{1,40}$" } as const;

/**
 * Returns tools that read for a model. Amounts are in the smallest unit, with whole tokens in a field with the suffix
 * `Shown`. Chains, symbols and decimals come from the pins, and no result has a text of the service.
 */
export function readTools({ client, pins, walletAddress }: Reading) {
	return {
		quote: tool<ModelQuoteInput>({
			description: "Returns what a swap would give now. Signs nothing. Name either amount or outputAmount.",
			required: { originChain, ...route, recipient },
			optional: {
				amount,
				outputAmount: {
					...amount,
					description: "In place of amount: what must arrive, in the smallest unit of the output token.",
				},
				topUpUsd: optionalFields.topUpUsd,
			},
			act: async ({ amount, outputAmount, topUpUsd, ...terms }) => {
				const quote = await getQuote(client, {
					...terms,
					...(amount !== undefined && { amount: BigInt(amount) }),
					...(outputAmount !== undefined && { outputAmount: BigInt(outputAmount) }),
					...(topUpUsd !== undefined && { topUpUsd }),
					walletAddress: walletAddress(),
				});
				const given = { chainId: terms.originChain, token: terms.inputToken };
				const got = { chainId: terms.destinationChain, token: terms.outputToken };
				const { inputUsd, outputUsd, priceImpactBps, etaSeconds } = quote;
				return {
					...shown("amount", quote.amount, given),
					...shown("output", quote.output, got),
					...shown("minOutput", quote.minOutput, got),
					...(quote.topUp !== undefined && { topUp: String(quote.topUp) }),
					...numbers({ inputUsd, outputUsd, priceImpactBps, etaSeconds }),
				};
			},
		}),
		status: tool<{ swapId: string }>({
			description: "Returns whether a swap is pending, settled, failed or refunded. Waits up to 15 seconds.",
			required: { swapId: { ...swapId, description: "The swapId of the swap's result." } },
			optional: {},
			act: async ({ swapId }) => {
				const { status, deliveredAmount, terms } = await getStatus(client, swapId);
				const known = swapStatuses.find((one) => one === status) ?? "unknown";
				const got = terms && { chainId: terms.destinationChain, token: terms.outputToken };
				return { swapId, status: known, ...(got && shown("deliveredAmount", deliveredAmount, got)) };
			},
		}),
		tokens: tool<{ chainId?: number | undefined }>({
			description: "Lists the chains and tokens that can be swapped, with addresses and decimals.",
			required: {},
			optional: { chainId: originChain },
			act: async ({ chainId }) => {
				const { tokens } = await getTokens(client, chainId === undefined ? {} : { chainId });
				const isLive = (token: string, on: number) =>
					tokens.some((one) => one.chainId === on && one.live && isSame(token, one.address));
				return {
					tokens: pinnedAssets()
						.filter((asset) => chainId === undefined || asset.chainId === chainId)
						.map((asset) => ({ ...asset, live: isLive(asset.token, asset.chainId) })),
				};
			},
		}),
		balances: tool<{ chainId: number }>({
			description: "Returns what the wallet holds of each token on one chain, as the service reads it.",
			required: { chainId: { ...originChain, description: "Id of a chain." } },
			optional: {},
			act: async ({ chainId }) => {
				const wallet = walletAddress();
				const balances = [];
				for (const { token, symbol } of pinnedAssets().filter((asset) => asset.chainId === chainId)) {
					const { balance } = await getDelegation(client, { chainId, walletAddress: wallet, token });
					balances.push({ token, symbol, ...shown("amount", balance, { chainId, token }) });
				}
				return { chainId, wallet, balances };
			},
		}),
	};

	function pinnedAssets() {
		const { chains, solana } = pins;
		return [...chains, ...(solana ? [solana] : [])].flatMap(({ chainId, name: chain, assets }) =>
			assets.map(({ address: token, symbol, decimals }) => ({ chainId, chain, token, symbol, decimals })),
		);
	}

	/** Returns the amount in smallest units and, if the pins list the token, in whole tokens. */
	function shown(
		name: string,
		units: bigint | undefined,
		{ chainId, token }: { chainId: number; token: string },
	): Record<string, string> {
		if (units === undefined) return {};
		const asset = pinnedAsset(pins, chainId, token);
		const whole = asset && { [`${name}Shown`]: `${formatUnits(units, asset.decimals)} ${asset.symbol}` };
		return { [name]: String(units), ...whole };
	}
}

/** A failure becomes a result, because the message of an error may hold texts of the service. */
function tool<Input>({ act, ...rest }: ReadTool<Input>): ReadTool<Input> {
	return { ...rest, act: (input) => act(input).catch(failureForModel) };
}

/** Returns the facts of an error that are numbers or words of this package. */
function failureForModel(error: unknown): object {
	const details: Record<string, unknown> = (error instanceof GeoswapError && error.details) || {};
	const limits = ["minimumAmount", "maximumAmount"].flatMap((name) =>
		/^\d{1,78}$/.test(String(details[name])) ? [[name, String(details[name])]] : [],
	);
	return { code: codeForModel(error), ...Object.fromEntries(limits) };
}

/** Returns a code that holds no text of the service. */
export function codeForModel(error: unknown): string {
	if (!(error instanceof GeoswapError)) return "UNEXPECTED";
	return /^[A-Z_]{1,40}$/.test(error.code) ? error.code : "UNEXPECTED_RESPONSE";
}

/** Returns the values that are numbers, or numbers as text. */
function numbers(values: Record<string, unknown>): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(values).filter(([, value]) =>
			typeof value === "string" ? /^\d{1,30}(\.\d{1,30})?$/.test(value) : Number.isFinite(value),
		),
	);
}
