import type { Deployment } from "@geoswap/protocol";
import type { GeoswapError } from "@geoswap/sdk";
import { type BudgetLimit, budgetLimits } from "@geoswap/sdk/budget";
import * as z from "zod";
import { type Asset, assetAt } from "../pinned-assets.ts";
import { amountFields, amountShape } from "./amount-fields.ts";

/** The fields of an error that a budget caused. The amounts are missing if the limit is not an amount. */
const refusalSchema = z
	.object({
		limit: z.enum(budgetLimits).describe("The limit of the budget that refused the swap."),
		...amountShape("requested", "What the swap would take, or the least that it would deliver"),
		...amountShape(
			"allowed",
			"What the budget allows in one swap or a day, or the least output that it allows",
		),
		...amountShape("used", "What was spent in the last 24 hours"),
	})
	.partial();
export const budgetRefusalShape = refusalSchema.shape;
export type BudgetRefusal = z.output<typeof refusalSchema>;

/** Returns the limit that refused a swap, with its amounts in whole tokens. Undefined for any other error. */
export function budgetRefusal(
	pins: Deployment,
	error: GeoswapError,
): (BudgetRefusal & { message: string }) | undefined {
	// The ledger throws without a response of the service.
	if (error.code !== "BUDGET_REFUSED" || error.status !== undefined) return undefined;
	const { message, details = {} } = error;
	const limit = budgetLimits.find((one) => one === details.limit);
	const asset = assetAt(pins, { chainId: Number(details.chainId), token: String(details.token) });
	if (!limit || !asset) return { limit, message };
	const amountOf = (name: string) => String(details[name]);
	switch (limit) {
		case "perSwap":
			return refusalOf(limit, asset, { requested: amountOf("amount"), allowed: amountOf("perSwap") });
		case "perDay": {
			const used = amountFields("used", amountOf("used"), asset);
			const told = refusalOf(limit, asset, { requested: amountOf("amount"), allowed: amountOf("perDay") });
			return { ...told, ...used, message: `${told.message} ${used.used} are used. Swap less, or wait.` };
		}
		case "worstPrice":
			return refusalOf(limit, asset, { requested: amountOf("minOutput"), allowed: amountOf("worst") });
		default:
			return { limit, message };
	}
}

const meanings = {
	perSwap: (requested, allowed) => `the amount is ${requested}, and the budget allows ${allowed} in one swap`,
	perDay: (requested, allowed) => `the amount is ${requested}, and the budget allows ${allowed} in 24 hours`,
	worstPrice: (requested, allowed) =>
		`the least output would be ${requested}, and the budget's worst price requires ${allowed}`,
} satisfies Partial<Record<BudgetLimit, (requested: string, allowed: string) => string>>;

function refusalOf(
	limit: keyof typeof meanings,
	asset: Asset,
	{ requested, allowed }: { requested: string; allowed: string },
) {
	const told = {
		...amountFields("requested", requested, asset),
		...amountFields("allowed", allowed, asset),
	};
	return { limit, ...told, message: `Nothing was signed: ${meanings[limit](told.requested, told.allowed)}.` };
}
