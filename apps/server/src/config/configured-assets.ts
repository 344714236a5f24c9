import { solanaNativeToken, toSolanaWord } from "@geoswap/protocol";
import { type Hex, zeroAddress } from "viem";
import type { Config } from "./config.ts";

type ConfiguredAsset = {
	chainId: number;
	symbol: string;
	decimals: number;
	kind: "stable" | "volatile";
	/** True if it is the chain's native token, in which gas is paid. */
	isNative: boolean;
	/** The token as in orders of its chain: an address, or a Solana word. */
	token: Hex;
};

/** Returns every asset of every chain that the service is configured for. */
export function configuredAssets({ chains }: Pick<Config, "chains">): ConfiguredAsset[] {
	return chains.flatMap((chain) => {
		const { chainId } = chain;
		if (chain.kind === "evm") {
			return chain.deployment.assets.map(({ symbol, decimals, kind, address }) => {
				return { chainId, symbol, decimals, kind, isNative: address === zeroAddress, token: address };
			});
		}
		return chain.deployment.assets.map(({ symbol, decimals, kind, address }) => {
			const token = toSolanaWord(address);
			return { chainId, symbol, decimals, kind, isNative: address === solanaNativeToken, token };
		});
	});
}
