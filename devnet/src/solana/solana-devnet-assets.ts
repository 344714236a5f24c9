import type { SolanaAssetDeployment } from "@geoswap/protocol";
import { deriveSolanaDevnetKeys, solanaAddressOfKey } from "./development-solana-keys.ts";
import { systemProgram } from "./new-account.ts";

export type SolanaDevnetSymbol = "USDC" | "USDT" | "SOL";

export type SolanaDevnetAsset = Omit<SolanaAssetDeployment, "feed" | "symbol"> & {
	symbol: SolanaDevnetSymbol;
	heartbeatSeconds: number;
};

const { usdc, usdt } = deriveSolanaDevnetKeys().actors;
const hour = 3_600;

/** The first is the settlement token. Heartbeats are as long as Chainlink's on Ethereum. */
export const solanaDevnetAssets: readonly SolanaDevnetAsset[] = [
	{
		symbol: "USDC",
		address: solanaAddressOfKey(usdc),
		decimals: 6,
		kind: "stable",
		heartbeatSeconds: 24 * hour,
	},
	{
		symbol: "USDT",
		address: solanaAddressOfKey(usdt),
		decimals: 6,
		kind: "stable",
		heartbeatSeconds: 24 * hour,
	},
	{ symbol: "SOL", address: systemProgram, decimals: 9, kind: "volatile", heartbeatSeconds: hour },
];
