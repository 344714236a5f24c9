import { solanaNativeToken, toSolanaWord } from "@geoswap/protocol";
import { type Hex, zeroAddress } from "viem";
import type { Config } from "./config.ts";

type ConfiguredAsset = {
	chainId: number;
	symbol: string;
	decimals: number;
	kind: "stable" | "volatile";
	/** Whether it is the chain's own: what gas is paid in. */
	isNative: boolean;
	/** As in orders of its chain: an address, or a word of Solana. */
	token: Hex;
};

/** Every asset of every chain that the service is configured for. */
export function configuredAssets({ chains, solana }: Pick<Config, "chains" | "solana">): ConfiguredAsset[] {
	return [
		...chains.flatMap(({ chainId, deployment }) =>
			deployment.assets.map(({ symbol, decimals, kind, address }) => ({
				chainId,
				symbol,
				decimals,
				kind,
				isNative: address === zeroAddress,
				token: address,
			})),
		),
		...[solana ?? []].flat().flatMap(({ chainId, deployment }) =>
			deployment.assets.map(({ symbol, decimals, kind, address }) => ({
				chainId,
				symbol,
				decimals,
				kind,
				isNative: address === solanaNativeToken,
				token: toSolanaWord(address),
			})),
		),
	];
}
