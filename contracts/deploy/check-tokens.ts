import { type Client, erc20Abi, zeroAddress } from "viem";
import { readContract } from "viem/actions";
import type { DeployConfig } from "./deploy-config.ts";
import { DeployError } from "./deploy-error.ts";
import { doesNotAnswer } from "./does-not-answer.ts";
import { expectCode } from "./expect-code.ts";

/** Throws unless each token's symbol is the one in the config, which reveals two addresses that were exchanged. */
export async function checkTokens(client: Client, config: DeployConfig): Promise<void> {
	const { wrappedNative, assets, feeDiscountToken } = config;
	const tokens = assets.filter(({ address }) => address !== zeroAddress);
	await Promise.all([
		expectCode(client, "wrappedNative", wrappedNative),
		...[...tokens, ...(feeDiscountToken ? [feeDiscountToken] : [])].map((token) => checkToken(client, token)),
	]);
}

/** Throws unless the token has this symbol and these decimals. */
export async function checkToken(
	client: Client,
	{ symbol, address, decimals }: Pick<DeployConfig["assets"][number], "symbol" | "address" | "decimals">,
): Promise<void> {
	await expectCode(client, symbol, address);
	const [actualSymbol, actualDecimals] = await Promise.all([
		readContract(client, { address, abi: erc20Abi, functionName: "symbol" }),
		readContract(client, { address, abi: erc20Abi, functionName: "decimals" }),
	]).catch((cause) => {
		throw doesNotAnswer(`the token ${symbol}`, address, cause);
	});
	if (actualSymbol !== symbol) {
		throw new DeployError(`the token at ${address} is ${actualSymbol}, the config says ${symbol}`, {
			next: "correct its address in the config, or its symbol if that is what the token is called on this chain",
		});
	}
	if (actualDecimals !== decimals) {
		throw new DeployError(`${symbol} has ${actualDecimals} decimals, the config says ${decimals}`, {
			next: "correct the asset's decimals or address in the config",
		});
	}
}
