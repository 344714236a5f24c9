import { GeoswapError } from "@geoswap/sdk";
import { wholeTokens } from "./format-amount.ts";
import type { Asset } from "./pinned-assets.ts";

/** The option that sets a field of a quote. */
const optionOf = new Map([
	["originChain", "--from"],
	["inputToken", "--from"],
	["destinationChain", "--to"],
	["outputToken", "--to"],
	["amount", "--amount"],
	["outputAmount", "--receive"],
	["topUp", "--top-up"],
	["topUpUsd", "--top-up-usd"],
	["recipient", "--recipient"],
	["slippageBps", "--slippage-bps"],
	["walletAddress", "the wallet"],
	["mandate", "--mandate"],
]);

type Shown = Pick<Asset, "decimals" | "symbol">;

/**
 * Returns the service's refusal with a message that has amounts in whole tokens and fields by their options. Decimals
 * and symbols are those of the deployment file. `exact` is the token whose amount was requested.
 */
export function refusalInTokens(error: unknown, from: Shown, exact: Shown): unknown {
	if (!(error instanceof GeoswapError)) return error;
	const message = messageOf(error, from, exact);
	if (message === undefined) return error;
	if (error.code !== "INVALID_REQUEST") ownWords.add(error);
	return Object.assign(error, { message });
}

const ownWords = new WeakSet<GeoswapError>();

/** Returns whether the message was written by `refusalInTokens`, without any text of the service. */
export function isInTokens(error: GeoswapError): boolean {
	return ownWords.has(error);
}

function messageOf(error: GeoswapError, from: Shown, exact: Shown): string | undefined {
	// A proxy may respond instead of the service, with anything.
	const shown = (value: unknown, asset = from) =>
		typeof value === "string" && /^\d+$/.test(value) ? wholeTokens(value, asset) : undefined;
	const verb = exact === from ? "Swap" : "Receive";
	switch (error.code) {
		case "NEEDS_LARGER_SIZE": {
			const minimum = shown(error.details?.minimumAmount, exact);
			return (
				minimum && `The amount is too small to pay for its own network costs. ${verb} at least ${minimum}.`
			);
		}
		case "NO_ROUTE": {
			const maximum = shown(error.details?.maximumAmount, exact);
			return maximum && `The amount is too large. ${verb} at most ${maximum}.`;
		}
		case "ABOVE_MAX_INPUT": {
			const [quoted, most] = [shown(error.details?.quoted), shown(error.details?.maxInput)];
			return (
				quoted &&
				most &&
				`The quote was not signed, because it takes ${quoted}, and the wallet may give at most ${most}. Allow more, or try again later.`
			);
		}
		case "OUTSIDE_MANDATE": {
			const maximum = shown(error.details?.maximumAmount);
			return (
				maximum && `The mandate allows at most ${maximum}. Swap less, or ask the owner for another mandate.`
			);
		}
		case "MANDATE_EXCEEDED": {
			const available = shown(error.details?.available);
			return (
				available && `The mandate's cap is used up for now. Swap at most ${available}, or try again later.`
			);
		}
		case "INSUFFICIENT_BALANCE": {
			const balance = shown(error.details?.balance);
			const required = shown(error.details?.required);
			return (
				balance &&
				required &&
				`The wallet holds ${balance}, and the swap takes ${required}. Fund it, or swap less.`
			);
		}
		case "INVALID_REQUEST": {
			const { issues } = error.details ?? {};
			return Array.isArray(issues) && issues.length > 0 ? issuesText(issues) : undefined;
		}
		default:
			return undefined;
	}
}

function issuesText(issues: readonly { path?: unknown; message?: unknown }[]): string {
	const named = issues.map(
		({ path, message }) => `${optionOf.get(String(path)) ?? (path || "the request")} (${message})`,
	);
	return `The service refuses ${named.join(", ")}. Correct that, and try again.`;
}
