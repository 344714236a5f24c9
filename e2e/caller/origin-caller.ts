import type { BuildResponse } from "@geoswap/protocol";
import { type Client, getQuote } from "@geoswap/sdk";
import type { Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import type { Environment } from "../environment/environment.ts";
import { signAuthorization } from "../wallet/sign-authorization.ts";
import { type ApiAnswer, callApi } from "./call-api.ts";
import { swapIntent } from "./do-swap.ts";

const amount = 10_000_000n;

/** The steps of a swap of 10 USDC as single calls, so that a test can insert mistakes between them. */
export type OriginCaller = {
	/** Returns a new wallet that has the 10 USDC. */
	funded: (also?: { ethWei?: bigint }) => Promise<PrivateKeyAccount>;
	quoteToken: (account: PrivateKeyAccount) => Promise<string>;
	build: (geoQuoteToken: string, authorization?: unknown) => Promise<ApiAnswer>;
	/** Signs the wallet's delegation on the origin chain, correctly by default. */
	signAuthorization: (
		account: PrivateKeyAccount,
		options?: Parameters<typeof signAuthorization>[2],
	) => ReturnType<typeof signAuthorization>;
	/** Signs the built op, the user operation that deposits the input, correctly and submits it. */
	submit: (account: PrivateKeyAccount, build: BuildResponse) => Promise<ApiAnswer>;
};

export function originCaller({ origin, destination, newWallet }: Environment, client: Client): OriginCaller {
	return {
		funded: (also = {}) => newWallet({ chain: origin, token: "USDC", amount, ...also }),
		quoteToken: async (account) => {
			const from = { chain: origin, token: "USDC", amount };
			const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
			return (await getQuote(client, intent)).geoQuoteToken;
		},
		build: (geoQuoteToken, authorization) =>
			callApi(client, "/swap/build-geo-op", { body: { geoQuoteToken, authorization } }),
		signAuthorization: (account, options) => signAuthorization(origin, account, options),
		submit: async (account, { geoOpHash, geoOpToken }) => {
			const signature = await account.signMessage({ message: { raw: geoOpHash as Hex } });
			return callApi(client, "/swap/submit", { body: { geoOpToken, signature } });
		},
	};
}
