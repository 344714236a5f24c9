import type { BuildResponse, Deployment, QuoteRequestBody, SubmitResponse } from "@geoswap/protocol";
import {
	buildOp,
	type Client,
	type EndedSwap,
	getQuote,
	type Quote,
	signDelegation,
	submitOp,
	verifyAndSign,
	waitForSwap,
} from "@geoswap/sdk";
import type { Hex, PrivateKeyAccount } from "viem";
import type { AnyChain } from "../chain/holding.ts";
import { assetAddress } from "../wallet/make-order.ts";

export type SwapCaller = { client: Client; pins: Deployment; account: PrivateKeyAccount };

/** Returns a quote request for assets by symbol, from one chain to another or on one. */
export function swapIntent({
	from,
	to,
	account,
	...rest
}: {
	from: { chain: AnyChain; token: string; amount: bigint };
	to: { chain: AnyChain; token: string };
	account: { address: string };
} & Pick<QuoteRequestBody, "recipient" | "slippageBps">): QuoteRequestBody {
	return {
		originChain: from.chain.chainId,
		destinationChain: to.chain.chainId,
		inputToken: assetAddress<string>(from.chain, from.token),
		outputToken: assetAddress<string>(to.chain, to.token),
		amount: String(from.amount),
		walletAddress: account.address,
		...rest,
	};
}

export type SignedSwap = { quote: Quote; build: BuildResponse; signature: Hex };

/** Does everything up to the signature, as an agent does. */
export async function signSwap(
	{ client, pins, account }: SwapCaller,
	intent: QuoteRequestBody,
	limits: { minOutput?: bigint } = {},
): Promise<SignedSwap> {
	const quote = await getQuote(client, intent);
	const authorization = await signDelegation(client, { chainId: Number(intent.originChain), account, pins });
	const build = await buildOp(client, { geoQuoteToken: quote.geoQuoteToken, authorization });
	return { quote, build, signature: await verifyAndSign({ intent, quote, build, pins, account, limits }) };
}

export function submitSigned(
	{ client }: SwapCaller,
	{ build, signature }: SignedSwap,
): Promise<SubmitResponse> {
	return submitOp(client, { geoOpToken: build.geoOpToken, signature });
}

/** Does a whole swap, until it is decided. */
export async function doSwap(
	caller: SwapCaller,
	intent: QuoteRequestBody,
): Promise<{ signed: SignedSwap; swap: EndedSwap }> {
	const signed = await signSwap(caller, intent);
	const { swapId } = await submitSigned(caller, signed);
	return { signed, swap: await waitForSwap(caller.client, swapId) };
}
