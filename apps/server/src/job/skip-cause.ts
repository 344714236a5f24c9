import { geoEscrowAbi, geoVaultAbi } from "@geoswap/protocol";
import { type Hex, toFunctionSelector } from "viem";
import { formatAbiItem } from "viem/utils";

/** The cause for which a vault skipped an order that it was to fill. */
export type SkipCause =
	/** Others in the bundle may have left it too little gas. */
	| "gas"
	/** Filled or voided before. */
	| "decided"
	/** Its deposit is not there, or no longer. */
	| "not_open"
	| "too_late"
	| "price"
	| "liquidity"
	| "recipient"
	| "other";

const causes: Record<Hex, SkipCause> = {
	"0x00000000": "gas",
	[selectorOf("InsufficientGas")]: "gas",
	[selectorOf("AlreadyDecided")]: "decided",
	[selectorOf("NotOpen")]: "not_open",
	[selectorOf("FillExpired")]: "too_late",
	[selectorOf("TooLittleDelivered")]: "price",
	[selectorOf("BudgetNotSpent")]: "price",
	[selectorOf("CapExceeded")]: "liquidity",
	[selectorOf("NoNative")]: "liquidity",
	[selectorOf("NotListed")]: "liquidity",
	[selectorOf("SafeERC20FailedOperation")]: "liquidity",
	[toFunctionSelector("ERC20InsufficientBalance(address,uint256,uint256)")]: "liquidity",
	[selectorOf("NativeTransferFailed")]: "recipient",
};

/** Tokens and routers from before custom errors revert with a text, which the event does not carry. */
const words = toFunctionSelector("Error(string)");

/** Returns the meaning of the selector in a vault's `Skipped` event. */
export function skipCause(selector: Hex, { throughRouter }: { throughRouter: boolean }): SkipCause {
	// The router reverts with "Too little received". A plain transfer fails because the tokens are missing.
	if (selector === words) return throughRouter ? "price" : "liquidity";
	return causes[selector] ?? "other";
}

function selectorOf(errorName: string): Hex {
	const item = [...geoVaultAbi, ...geoEscrowAbi].find(
		(candidate) => candidate.type === "error" && candidate.name === errorName,
	);
	if (item?.type !== "error") throw new Error(`none of the service's contracts has the error ${errorName}`);
	return toFunctionSelector(formatAbiItem(item));
}
