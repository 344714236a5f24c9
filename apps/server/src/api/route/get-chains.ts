import type { ChainEntry, ChainsResponse } from "@geoswap/protocol";
import { solanaNativeToken } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import { type EvmChainConfig, isOfferedTo, type SolanaChainConfig } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import type { Desk } from "../../desk/desk.ts";
import type { PauseList } from "../../swap/pause/pause-list.ts";
import type { Route } from "../http/route.ts";
import { getChainsDoc } from "../openapi/endpoints/get-chains.ts";

/** GET /chains: the chains on which swaps begin and end, and what is deployed there. */
export function getChains({
	config,
	desk,
	pauses,
}: {
	config: Pick<Config, "chains">;
	desk: Pick<Desk, "isLive">;
	pauses: Pick<PauseList, "reasonOf">;
}): Route {
	const assets = configuredAssets(config);
	return {
		method: "GET",
		path: "/chains",
		operation: "list",
		doc: getChainsDoc,
		handle: async ({ account: { accountId } }): Promise<ChainsResponse> => ({
			chains: config.chains
				.filter((chain) => isOfferedTo(accountId, chain))
				.map((chain) => (chain.kind === "evm" ? evmChain(chain) : solanaChain(chain))),
		}),
	};

	function evmChain({
		kind,
		chainId,
		deployment,
		openSeconds,
		finalitySeconds,
		explorerUrl,
	}: EvmChainConfig): ChainEntry {
		const { name, contracts, attesterSet, settlementToken } = deployment;
		const { delegate, typedDelegate, escrow, vault } = contracts;
		return {
			chainId,
			name,
			kind,
			nativeToken: zeroAddress,
			settlementToken,
			contracts: { delegate, typedDelegate, escrow, vault, attesterSet: attesterSet.hash },
			openSeconds,
			finalitySeconds,
			...(explorerUrl !== undefined && { explorerUrl }),
			...liveness(chainId),
		};
	}

	function solanaChain({
		kind,
		chainId,
		deployment,
		openSeconds,
		finalitySeconds,
		explorerUrl,
	}: SolanaChainConfig): ChainEntry {
		const { name, program, settlementToken } = deployment;
		return {
			chainId,
			name,
			kind,
			nativeToken: solanaNativeToken,
			settlementToken,
			contracts: { escrow: program.address, vault: program.vault },
			openSeconds,
			finalitySeconds,
			...(explorerUrl !== undefined && { explorerUrl }),
			...liveness(chainId),
		};
	}

	function liveness(chainId: number): Pick<ChainEntry, "live" | "paused"> {
		const paused = pauses.reasonOf(chainId);
		if (paused !== undefined) return { live: false, paused };
		return { live: assets.some((asset) => asset.chainId === chainId && desk.isLive(asset)) };
	}
}
