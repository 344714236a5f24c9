import { mulDivUp } from "@geoswap/protocol";
import type { Budget, BudgetAsset } from "@geoswap/sdk/budget";
import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { assetJson } from "../cost-lines.ts";
import { wholeTokens } from "../format-amount.ts";
import { type Asset, assetAt } from "../pinned-assets.ts";
import { amountFields, amountShape } from "./amount-fields.ts";
import { assetShape, reads } from "./read-tools.ts";
import type { Swapping } from "./swap-tool.ts";
import { dataText, errorResult, resultOf, resultSchema } from "./tool-result.ts";

export function registerGetBudget(server: McpServer, { context, ledger }: Swapping): void {
	const outputSchema = resultSchema({
		spend: z.array(
			z.object({
				...assetShape,
				...amountShape("perSwap", "The most in one swap"),
				...amountShape("perDay", "The most in any 24 hours"),
				...amountShape("left", "What is left of perDay now"),
			}),
		),
		routes: z.array(
			z.object({
				from: z.object(assetShape),
				to: z.object(assetShape),
				worstPrice: dataText.describe(
					'The least output for 1 of the input, in whole tokens, such as "0.98 USDC for 1 USDC".',
				),
			}),
		),
		recipients: z.array(dataText),
	});
	const pinned = (ref: BudgetAsset): Asset => {
		const asset = assetAt(context.config.pins, ref);
		if (asset) return asset;
		throw new Error(`the deployment file lacks ${ref.token}, which the budget names`);
	};
	server.registerTool(
		"get_budget",
		{
			title: "Read the budget",
			description: "Returns what swap may spend, on what, and for whom. Only the user can change it.",
			inputSchema: z.strictObject({}),
			outputSchema,
			annotations: { ...reads, openWorldHint: false },
		},
		async (): Promise<CallToolResult> => {
			try {
				const { spend, routes, recipients } = ledger.budget;
				const limits = await Promise.all(
					spend.map(async (limit) => {
						const asset = pinned(limit);
						return {
							...assetJson(asset),
							...amountFields("perSwap", limit.perSwap, asset),
							...amountFields("perDay", limit.perDay, asset),
							...amountFields("left", await ledger.left(limit), asset),
						};
					}),
				);
				const pairs = routes.map((route) => {
					const [from, to] = [pinned(route.from), pinned(route.to)];
					return {
						from: assetJson(from),
						to: assetJson(to),
						worstPrice: priceText(route.worstPrice, { from, to }),
					};
				});
				return resultOf(outputSchema, { spend: limits, routes: pairs, recipients });
			} catch (error) {
				return errorResult(error);
			}
		},
	);
}

/** The decimals of a price, as in a budget file. */
const priceDecimals = 18;

/** Returns a ratio of smallest units as a price in whole tokens, rounded up, because a lower price is refused. */
function priceText(
	{ output, input }: Budget["routes"][number]["worstPrice"],
	{ from, to }: { from: Asset; to: Asset },
): string {
	const price = mulDivUp(
		output,
		10n ** BigInt(priceDecimals + from.decimals),
		input * 10n ** BigInt(to.decimals),
	);
	const least = wholeTokens(price, { symbol: to.symbol, decimals: priceDecimals });
	return `${least} for 1 ${from.symbol}`;
}
