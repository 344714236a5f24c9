import { type Milliseconds, type Order, type Seconds, SwapError } from "@geoswap/protocol";
import type { SubmitOutcome } from "./submit-swap.ts";

/** Returns the error for an op that came after its deadline. */
export function expiredError(expiresAtMs: Milliseconds, found: "never" | "untold"): SwapError {
	const details = { expiredAt: new Date(expiresAtMs).toISOString() };
	if (found === "never") return new SwapError("OP_EXPIRED", details);
	return new SwapError("OP_EXPIRED", details, {
		next: "contact_operator",
		message:
			"The operation has expired, and the chain can no longer show whether it was executed. Give the operator the wallet and the requestId.",
	});
}

/** Returns the error for the time in which it is unknown whether the op landed before a restore. */
export function undecidedError({ originChainId }: Order): SwapError {
	return new SwapError(
		"UPSTREAM_UNAVAILABLE",
		{ upstream: `chain ${originChainId}` },
		{
			message:
				"The service was restored from a backup, and it is not known yet whether the transaction was executed before. Send the same request again in a moment; sign nothing else for this swap until then.",
		},
	);
}

/** Returns the caller's error for a submit that wrote nothing. */
export function refusalError(
	outcome: Exclude<SubmitOutcome["outcome"], "created" | "existing" | "expired">,
	{ reservationSeconds }: { reservationSeconds: Seconds },
): SwapError {
	switch (outcome) {
		case "price":
		case "inventory":
			return new SwapError("LIQUIDITY_CHANGED", { reason: outcome });
		case "share":
			return new SwapError(
				"LIQUIDITY_CHANGED",
				{ reason: "inventory" },
				{
					// The inventory has shrunk since the quote. A new quote offers what one swap may take now.
					next: "fix_request",
					message:
						"The swap needs a larger share of the vault's inventory than one swap may take. Nothing was executed, and the same amount would be refused again. Request a quote for a smaller amount, or ask the operator for more inventory.",
				},
			);
		case "attesters":
			return new SwapError(
				"UPSTREAM_UNAVAILABLE",
				{ upstream: "attesters" },
				{
					message:
						"Too few attesters of this swap answer now, and nothing was executed. Send the same request again in a moment.",
				},
			);
		case "unopened":
			return new SwapError(
				"RATE_LIMITED",
				{ reason: "reserved_value", retryAfterSeconds: reservationSeconds },
				{
					message:
						"Too much is reserved for swaps of this account that are not open yet. Send the request again later.",
				},
			);
	}
}
