import type { BuildSolanaResponse, Deployment, QuoteRequestBody, SubmitResponse } from "@geoswap/protocol";
import {
	buildSolanaTx,
	type Client,
	type EndedSwap,
	getQuote,
	type Quote,
	submitSolana,
	waitForSwap,
} from "@geoswap/sdk";
import { verifyAndSignSolana } from "@geoswap/sdk/solana";
import type { KeyPairSigner } from "@solana/kit";

export type SolanaCaller = { client: Client; pins: Deployment; account: KeyPairSigner };

export type SignedSolanaSwap = {
	quote: Quote;
	build: BuildSolanaResponse;
	/** Base64. */
	signedTransaction: string;
};

/** Does everything up to the signature, as an agent does. */
export async function signSolanaSwap(
	{ client, pins, account }: SolanaCaller,
	intent: QuoteRequestBody,
): Promise<SignedSolanaSwap> {
	const quote = await getQuote(client, intent);
	const build = await buildSolanaTx(client, { geoQuoteToken: quote.geoQuoteToken });
	const signedTransaction = await verifyAndSignSolana({ intent, quote, build, pins, signer: account });
	return { quote, build, signedTransaction };
}

export function submitSignedSolana(
	{ client }: SolanaCaller,
	{ build, signedTransaction }: SignedSolanaSwap,
): Promise<SubmitResponse> {
	return submitSolana(client, { geoOpToken: build.geoOpToken, signedTransaction });
}

/** Does a whole swap from Solana, until it is decided. */
export async function doSolanaSwap(
	caller: SolanaCaller,
	intent: QuoteRequestBody,
): Promise<{ signed: SignedSolanaSwap; swap: EndedSwap }> {
	const signed = await signSolanaSwap(caller, intent);
	const { swapId } = await submitSignedSolana(caller, signed);
	return { signed, swap: await waitForSwap(caller.client, swapId) };
}
