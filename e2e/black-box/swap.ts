import type { KeyPairSigner } from "@solana/kit";
import type { PrivateKeyAccount } from "viem";
import { signAuthorization, signGeoOp } from "./sign-evm.ts";
import { signUnsigned } from "./sign-solana.ts";
import type { Authorization, Quote, QuoteRequest, Submitted, Swap, SwapApi } from "./swap-api.ts";

export type Done = { quote: Quote; submitted: Submitted; seen: Swap[]; swap: Swap };

/** Does a whole swap from an EVM chain, with a delegation if the wallet has none yet. */
export async function swapFromEvm(
	api: SwapApi,
	{ account, request }: { account: PrivateKeyAccount; request: QuoteRequest },
): Promise<Done & { authorization: Authorization | undefined }> {
	const chainId = request.originChain;
	const delegation = await api.delegation({ chainId, walletAddress: account.address });
	const authorization = delegation.originReady
		? undefined
		: await signAuthorization(account, { chainId, delegation });
	const quote = await api.quote(request);
	const { geoQuoteToken } = quote;
	const build = await api.buildGeoOp({ geoQuoteToken, ...(authorization && { authorization }) });
	const signature = await signGeoOp(account, build);
	const submitted = await api.submit({ geoOpToken: build.geoOpToken, signature });
	return { authorization, quote, submitted, ...(await pollUntilEnd(api, submitted.swapId)) };
}

/** Does a whole swap from Solana. */
export async function swapFromSolana(
	api: SwapApi,
	{ signer, request }: { signer: KeyPairSigner; request: QuoteRequest },
): Promise<Done> {
	const quote = await api.quote(request);
	const build = await api.buildSolanaTx({ geoQuoteToken: quote.geoQuoteToken });
	const signedTransaction = await signUnsigned(signer, build);
	const submitted = await api.submitSolana({ geoOpToken: build.geoOpToken, signedTransaction });
	return { quote, submitted, ...(await pollUntilEnd(api, submitted.swapId)) };
}

/** Polls until the swap is settled, failed or refunded. */
export async function pollUntilEnd(api: SwapApi, swapId: string): Promise<{ seen: Swap[]; swap: Swap }> {
	const seen: Swap[] = [];
	for (;;) {
		const swap = await api.status(swapId);
		seen.push(swap);
		if (["settled", "failed", "refunded"].includes(swap.status)) return { seen, swap };
	}
}
