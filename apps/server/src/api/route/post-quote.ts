import {
	parseAddress,
	type QuoteRequest,
	type QuoteResponse,
	quoteRequestSchema,
	quoteResponseSchema,
	toSwapId,
} from "@geoswap/protocol";
import { mandateShape } from "../../chain/evm/wallet/mandate-shape.ts";
import type { SealKeys } from "../../config/seal-keys.ts";
import type { DenyList } from "../../deny/deny-list.ts";
import type { Desk } from "../../desk/desk.ts";
import { discountedFee, type FeeDiscounts } from "../../desk/discount/fee-discounts.ts";
import { sealedQuote } from "../../desk/sealed-quote.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import {
	exampleIntent,
	exampleQuoteToken,
	exampleSwapId,
	exampleWallet,
} from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { checkMandate, sealedMandate } from "../origin/check-mandate.ts";
import type { DelegatedWallets } from "../origin/delegated-wallets.ts";
import { expectServed } from "../origin/expect-served.ts";
import { sealToken } from "../seal/seal-token.ts";
import type { RecipientAccounts } from "./recipient-accounts.ts";

/**
 * POST /swap/quote. It runs no database query, and calls a chain only for the first look-up of a wallet's discount or a
 * recipient's account. The deny list is in memory, or is requested for addresses that it was not requested for of late.
 * All terms of the swap are in the token.
 */
export function postQuote({
	desk,
	wantPrices,
	feeDiscounts,
	recipients,
	delegated,
	denyList,
	sealKeys,
}: {
	desk: Pick<Desk, "quote" | "baseFeeMillibps">;
	/** Requests prices of these chains, and waits a moment if they are old because no request has needed them. */
	wantPrices: (chainIds: readonly number[]) => Promise<void>;
	/** Absent if there are no fee discounts. */
	feeDiscounts: FeeDiscounts | undefined;
	recipients: RecipientAccounts;
	delegated: Pick<DelegatedWallets, "has">;
	/** Absent if no address is denied. */
	denyList?: Pick<DenyList, "findDenied"> | undefined;
	sealKeys: SealKeys;
}): Route {
	return {
		method: "POST",
		path: "/swap/quote",
		operation: "quote",
		doc: postQuoteDoc,
		handle: async ({ body, account }): Promise<QuoteResponse> => {
			const request = parseRequest(quoteRequestSchema, body);
			const { accountId } = account;
			const { originChain: originChainId, walletAddress } = request;
			const [tier, recipient] = await Promise.all([
				feeDiscounts?.tierOf(walletAddress, { originChainId, accountId }),
				recipients.recipientOf(request, { accountId }),
				wantPrices([Number(originChainId), Number(request.destinationChain)]),
				denyList && expectPartiesServed(denyList, request),
			]);
			const { baseFeeMillibps } = desk;
			const feeMillibps = tier ? discountedFee(baseFeeMillibps, tier) : baseFeeMillibps;
			const isDelegated = delegated.has({ chainId: originChainId, address: walletAddress });
			const { mandate } = request;
			const shape = mandate && mandateShape(mandate);
			const quote = desk.quote(request, { feeMillibps, recipient, isDelegated, mandate: shape, accountId });
			const { order } = quote;
			const digest = mandate && checkMandate(mandate, order);
			const geoQuoteToken = sealToken(sealKeys, {
				purpose: `quote:${quote.originKind}`,
				accountId,
				payload: {
					...sealedQuote(quote),
					...(mandate && shape && digest && { mandate: sealedMandate(mandate, { order, digest, shape }) }),
				},
			});
			return {
				geoQuoteToken,
				expiresAt: new Date(quote.expiresAtMs).toISOString(),
				origin: quote.originKind,
				amount: String(quote.amount),
				output: String(quote.output),
				minOutput: String(quote.minOutput),
				...(quote.order.topUp > 0n && {
					topUp: String(quote.order.topUp),
					topUpUsd: quote.topUpUsd,
				}),
				...(quote.recipientAccountCost > 0n && {
					recipientAccountCost: String(quote.recipientAccountCost),
				}),
				feeBps: quote.feeBps,
				...(tier && {
					feeDiscount: {
						tier: tier.name,
						discountPercent: tier.discountPercent,
						baseFeeBps: baseFeeMillibps / 1_000,
					},
				}),
				inputUsd: quote.inputUsd,
				outputUsd: quote.outputUsd,
				priceImpactBps: quote.priceImpactBps,
				...(quote.warnings.length > 0 && { warnings: quote.warnings }),
				swapId: toSwapId(quote.uuid),
				recipient: quote.recipient,
				slippageBps: quote.slippageBps,
				etaSeconds: quote.etaSeconds,
				summary: quote.summary,
			};
		},
	};
}

async function expectPartiesServed(
	denyList: Pick<DenyList, "findDenied">,
	{ originChain, destinationChain, walletAddress, recipient }: QuoteRequest,
): Promise<void> {
	const parties = {
		wallet: parseAddress(originChain, walletAddress),
		recipient: parseAddress(destinationChain, recipient ?? walletAddress),
	};
	// The desk refuses what is not an address of its chain.
	if (!parties.wallet || !parties.recipient) return;
	await expectServed(denyList, {
		parties: { wallet: parties.wallet, recipient: parties.recipient },
		place: "quote",
	});
}

const postQuoteDoc: RouteDoc = {
	id: "quote",
	summary: "Price a swap",
	description: `Prices a swap and seals all of its terms into \`geoQuoteToken\`. Nothing is reserved and no chain is asked: the
build call is the first to read the wallet's balance.

A quote expires after 30 seconds. Build it at once, and do not cache quotes: request a new one. Unknown fields are refused,
since a misspelt field could cost money.

**Next:** the build call that \`origin\` names: [build-geo-op](#buildGeoOp) or [build-solana-tx](#buildSolanaTx).`,
	body: quoteRequestSchema,
	response: quoteResponseSchema,
	errors: ["NO_ROUTE", "NEEDS_LARGER_SIZE", "INVALID_MANDATE", "MANDATE_ENDED", "OUTSIDE_MANDATE"],
	example: {
		body: exampleIntent,
		response: {
			geoQuoteToken: exampleQuoteToken,
			expiresAt: "2026-06-01T12:00:30.000Z",
			origin: "evm",
			amount: "10000000",
			output: "9980998",
			minOutput: "9931093",
			feeBps: 12.5,
			inputUsd: "10.00",
			outputUsd: "9.98",
			priceImpactBps: -20,
			swapId: exampleSwapId,
			recipient: exampleWallet,
			slippageBps: 50,
			etaSeconds: 16,
			summary: "10 USDC on Base -> about 9.98099 USDC on Optimism",
		},
	},
};
