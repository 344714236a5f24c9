import type { Deployment } from "@geoswap/protocol";
import { findDifference } from "../expect-same.ts";
import { type Intent, termFields } from "../intents.ts";
import { shownTerm } from "../shown-term.ts";
import type { ApprovedTerms } from "./approvals.ts";
import type { ToolError } from "./tool-result.ts";

/** The terms of a call. Without a minimum, the one that was approved under the id is not compared. */
export type CalledTerms = Omit<ApprovedTerms, "minOutput" | "amount"> & {
	minOutput?: string;
	amount?: string;
};

/**
 * Returns the fields that name the swap. The input of an exact output is a limit, which each approval sets anew, and so
 * are the native units of a top-up in USD.
 */
export function approvedFields({ outputAmount }: Intent): (keyof Intent)[] {
	return termFields.filter(
		(field) => field !== "topUp" && (outputAmount === undefined || field !== "amount"),
	);
}

/** Returns the error of a call whose id was used for other terms, or undefined. */
export function findOtherTerms(pins: Deployment, intent: Intent, called: CalledTerms): ToolError | undefined {
	const minimum = called.minOutput === undefined ? [] : (["minOutput"] as const);
	const field = findDifference(intent, called, [...approvedFields(intent), ...minimum]);
	if (field === undefined) return undefined;
	const saved = shownTerm(pins, intent, field) ?? "not given";
	const given = shownTerm(pins, { ...intent, ...called }, field) ?? "not given";
	return {
		code: "INTENT_CHANGED",
		message: `This id was used for other terms: its ${field} is ${saved}, and that of this call is ${given}. Nothing was swapped for this call.`,
		next: "fix_request",
		retryable: false,
	};
}
