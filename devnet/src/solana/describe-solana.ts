import { programCode } from "@geoswap/geo-escrow";
import {
	attesterSetHash,
	type SolanaAssetDeployment,
	type SolanaDeployment,
	solanaChainId,
} from "@geoswap/protocol";
import { privateKeyToAddress } from "viem/accounts";
import { deriveDevnetKeys } from "../devnet-keys.ts";
import { deviationBps } from "../devnet-tokens.ts";
import { deriveSolanaDevnetKeys, solanaAddressOfKey } from "./development-solana-keys.ts";
import { devnetProgram, devnetVault } from "./devnet-program.ts";
import { type SolanaDevnetSymbol, solanaDevnetAssets } from "./solana-devnet-assets.ts";

export type SolanaFeeds = Partial<Record<SolanaDevnetSymbol, SolanaAssetDeployment["feed"]>>;

/**
 * Returns the service's deployment on the devnet's Solana. An asset without a given feed gets an address without a
 * feed.
 */
export function describeSolana({
	genesisHash,
	feeds = {},
}: {
	genesisHash: string;
	feeds?: SolanaFeeds;
}): SolanaDeployment {
	const { feePayers, operator } = deriveSolanaDevnetKeys();
	const assets = solanaDevnetAssets.map(({ heartbeatSeconds, ...asset }, index) => ({
		...asset,
		feed: feeds[asset.symbol] ?? {
			chainId: 31337,
			address: `0x${String(index + 1).padStart(40, "0")}` as const,
			heartbeatSeconds,
			deviationBps: deviationBps[asset.kind],
		},
	}));
	const attesterSet = { threshold: 2, attesters: deriveDevnetKeys().attesters.map(privateKeyToAddress) };
	return {
		chainId: solanaChainId,
		name: "Devnet Solana",
		genesisHash,
		feePayers: feePayers.map(solanaAddressOfKey),
		program: {
			address: devnetProgram,
			vault: devnetVault,
			operator: solanaAddressOfKey(operator),
			upgradeAuthority: null,
			deployedAtSlot: 0,
			code: programCode,
			attesterSet: { ...attesterSet, hash: attesterSetHash(attesterSet) },
		},
		settlementToken: solanaAddressOfKey(deriveSolanaDevnetKeys().actors.usdc),
		assets,
	};
}
