import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { getBase58Decoder } from "@solana/kit";
import { type Hex, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import type { Environment } from "../environment/environment.ts";
import { fundWallets } from "../wallet/fund-wallets.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { newSolanaKey } from "../wallet/solana-key.ts";

export type Agent = {
	evmAddress: Hex;
	/** The environment of the agent's programs. */
	env: NodeJS.ProcessEnv & Record<`GEOSWAP_${string}`, string>;
};

/**
 * Creates the wallets that `pnpm wallet` does, one on the first chain and one on Solana, each with 100 USDC and nothing
 * else.
 */
export async function newAgent(
	{ origin, solana, baseUrl, newKey }: Environment,
	{ folder, deploymentFile }: { folder: string; deploymentFile: string },
): Promise<Agent> {
	const amount = parseUnits("100", 6);
	const evmKey = generatePrivateKey();
	const evmAddress = privateKeyToAddress(evmKey);
	const [apiKey, { address: owner, bytes }] = await Promise.all([
		newKey(),
		newSolanaKey(),
		fundWallets(origin, [{ wallet: evmAddress, token: assetAddress(origin, "USDC"), amount }]),
	]);
	await solana.admin.mintTo({ owner, token: assetAddress(solana, "USDC"), amount });
	return {
		evmAddress,
		env: {
			PATH: process.env.PATH,
			HOME: process.env.HOME,
			NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
			NO_COLOR: "1",
			GEOSWAP_HOME: mkdtempSync(join(folder, "home-")),
			GEOSWAP_URL: baseUrl,
			GEOSWAP_API_KEY: apiKey,
			GEOSWAP_DEPLOYMENT: deploymentFile,
			GEOSWAP_EVM_KEY: evmKey,
			GEOSWAP_SOLANA_KEY: getBase58Decoder().decode(bytes),
		},
	};
}
