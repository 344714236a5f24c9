import type { BuildSolanaResponse, QuoteRequestBody } from "@geoswap/protocol";
import { buildSolanaTx, type Client, getQuote, type Quote } from "@geoswap/sdk";
import { type KeyPairSigner, signBytes } from "@solana/kit";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import type { AnyChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { type ApiAnswer, callApi } from "./call-api.ts";
import { swapIntent } from "./do-swap.ts";

export const tenUsdc = 10_000_000n;

type Terms = {
	token?: string;
	amount?: bigint;
	to?: { chain: AnyChain; token: string };
	recipient?: string;
	slippageBps?: number;
};

/** A wallet's signed swap, ready to be submitted. */
export type SolanaScene = {
	account: KeyPairSigner;
	quote: Quote;
	built: BuildSolanaResponse;
	/** Base64. */
	signed: string;
};

/** The steps of a swap from Solana one by one, so that a test can put a mistake into any of them. */
export type SolanaSteps = {
	/** Returns a request for 10 USDC to USDC on an EVM chain, unless the terms differ. */
	intent: (account: { address: string }, terms?: Terms) => QuoteRequestBody;
	quote: (account: { address: string }, terms?: Terms) => Promise<Quote>;
	/** Quotes, builds and signs. */
	scene: (account: KeyPairSigner, terms?: Terms) => Promise<SolanaScene>;
	build: (quote: { geoQuoteToken: string }, authorization?: unknown) => Promise<ApiAnswer>;
	submit: (built: { geoOpToken: string }, signedTransaction: unknown, as?: Client) => Promise<ApiAnswer>;
	status: (quote: { swapId: string }, options?: { waitSeconds?: number; as?: Client }) => Promise<ApiAnswer>;
};

export function solanaSteps({ solana, destination }: Environment, client: Client): SolanaSteps {
	const intent: SolanaSteps["intent"] = (
		account,
		{ token = "USDC", amount = tenUsdc, to = { chain: destination, token: "USDC" }, ...terms } = {},
	) => {
		const recipient = to.chain === solana ? {} : { recipient: privateKeyToAddress(generatePrivateKey()) };
		return swapIntent({ from: { chain: solana, token, amount }, to, account, ...recipient, ...terms });
	};
	const quote: SolanaSteps["quote"] = (account, terms) => getQuote(client, intent(account, terms));
	return {
		intent,
		quote,
		scene: async (account, terms) => {
			const quoted = await quote(account, terms);
			const built = await buildSolanaTx(client, quoted);
			return { account, quote: quoted, built, signed: await signTransaction(account, built) };
		},
		build: ({ geoQuoteToken }, authorization) =>
			callApi(client, "/swap/build-solana-tx", { body: { geoQuoteToken, authorization } }),
		submit: ({ geoOpToken }, signedTransaction, as = client) =>
			callApi(as, "/swap/submit-solana", { body: { geoOpToken, signedTransaction } }),
		status: ({ swapId }, { waitSeconds = 0, as = client } = {}) =>
			callApi(as, `/swap/status/${swapId}?wait=${waitSeconds}`),
	};
}

const noSignature = new Uint8Array(64);

/** Encodes a transaction for sending, in base64. */
export function wireTransaction(message: Uint8Array, signatures: readonly Uint8Array[]): string {
	return Buffer.concat([new Uint8Array([signatures.length]), ...signatures, message]).toString("base64");
}

/** Signs the built message as it is, as second signer. The first signature is the fee payer's. */
export async function signTransaction(
	account: KeyPairSigner,
	{ geoOp }: Pick<BuildSolanaResponse, "geoOp">,
	feePayerSignature: Uint8Array = noSignature,
): Promise<string> {
	const message = new Uint8Array(Buffer.from(geoOp.message, "base64"));
	return wireTransaction(message, [feePayerSignature, await signMessage(account, message)]);
}

export async function signMessage(account: KeyPairSigner, message: Uint8Array): Promise<Uint8Array> {
	return new Uint8Array(await signBytes(account.keyPair.privateKey, message));
}
