import type { Deployment } from "@geoswap/protocol";
import type { Swap } from "@geoswap/sdk";
import * as z from "zod";
import { assetAt } from "../pinned-assets.ts";
import { amountFields, amountShape } from "./amount-fields.ts";
import type { CurrentReport } from "./current-report.ts";
import type { SwapReport } from "./swap-runner.ts";
import { errorSchema, resultSchema, serviceText } from "./tool-result.ts";

const { amount, amountUnits } = amountShape("amount", "How much it is");
export const fundsSchema = z.object({
	chainId: z.int(),
	holder: z.enum(["wallet", "escrow", "recipient"]),
	token: serviceText,
	amount: amount.optional().describe(`${amount.description} Missing if the deployment file lacks the token.`),
	amountUnits,
});

/** Returns where the money is as the fields of `fundsSchema`. The service may omit it. */
export function fundsDocument(pins: Deployment, funds: Swap["funds"] | undefined) {
	if (!funds) return undefined;
	const { chainId, holder, token, amount: held } = funds;
	const asset = assetAt(pins, { chainId, token });
	return asset
		? { chainId, holder, token: asset.address, ...amountFields("amount", held, asset) }
		: { chainId, holder, token, amountUnits: String(held) };
}

const statuses = [
	"submitted",
	"settled",
	"refunded",
	"failed",
	"unknown",
	"not_swapped",
	"id_used",
	"awaiting_approval",
] as const;

export const swapResultSchema = resultSchema({
	id: z.string().optional().describe("The id that the swap was requested with."),
	swapId: z.string().optional().describe("The service's id of the swap, for get_swap."),
	status: z
		.enum(statuses)
		.describe(
			"settled: delivered. refunded, failed: the whole input is back. submitted: under way. unknown: it may execute. not_swapped: nothing was taken, and nothing will be. id_used: the id belongs to a swap with other terms, and nothing was done for this call. awaiting_approval: the user has not decided.",
		),
	stage: serviceText.optional(),
	mayExecute: z
		.boolean()
		.describe("True if it may still execute. Start no other swap for the same purpose then."),
	advice: z.string(),
	funds: fundsSchema.optional(),
	failure: serviceText.optional(),
	error: errorSchema.optional(),
});

const advice = {
	submitted: "The swap is under way. Follow it with get_swap, and never start another for the same purpose.",
	settled: "The recipient has the output. There is nothing left to do.",
	refunded: "The whole input is back in the wallet. Swap again only if the user wants it, with a new id.",
	failed: "Nothing was taken. Swap again only if the user wants it, with a new id.",
	unknown: "This swap may still execute. Follow it with get_swap, and never start another.",
	not_swapped: "Nothing was taken, and nothing will be. See the error, if there is one.",
	id_used:
		"Nothing was done for this call, because its id belongs to a swap with other terms. Read that swap with get_swap. Use a new id only if the user wants another swap.",
	awaiting_approval:
		"The user has not decided yet. Ask the user to run: geoswap approve, with this id, or to answer the page that has opened. Then call swap again with the same arguments.",
} satisfies Record<(typeof statuses)[number], string>;

/** Returns true if what the report is about, or the swap that has its id, may still execute. */
export function mayExecute(report: SwapReport): boolean {
	if (report.status === "id_used") return report.mayExecute;
	return report.status === "submitted" || report.status === "unknown";
}

/** Returns the report as the fields of a result. */
export function swapDocument(pins: Deployment, id: string | undefined, report: CurrentReport) {
	const { status } = report;
	return {
		...(id !== undefined && { id }),
		...report,
		...("funds" in report && { funds: fundsDocument(pins, report.funds) }),
		mayExecute: mayExecute(report),
		advice: advice[status],
	};
}
