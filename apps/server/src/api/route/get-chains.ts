import {
	type ChainEntry,
	type ChainsResponse,
	chainsResponseSchema,
	solanaNativeToken,
} from "@geoswap/protocol";
import { zeroAddress } from "viem";
import { type EvmChainConfig, isOfferedTo, type SolanaChainConfig } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import type { Desk } from "../../desk/desk.ts";
import type { PauseList } from "../../swap/pause/pause-list.ts";
import type { Route } from "../http/route.ts";
import { exampleGeoOp, exampleIntent, exampleTypedDelegate } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";

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

const getChainsDoc: RouteDoc = {
	id: "getChains",
	summary: "List chains",
	description:
		"Every chain that swaps can start or end on. `live` is false while the chain's prices are missing or uncertain; a quote is then refused with `NO_ROUTE` and the reason `paused`. Compare the contracts with the published deployment file, and pin that file. Pinning this answer would protect you from nothing, since it comes from the server itself.",
	response: chainsResponseSchema,
	errors: [],
	example: {
		response: {
			chains: [
				{
					chainId: exampleIntent.originChain,
					name: "Base",
					kind: "evm",
					nativeToken: "0x0000000000000000000000000000000000000000",
					settlementToken: exampleIntent.inputToken,
					contracts: {
						delegate: exampleGeoOp.delegate,
						typedDelegate: exampleTypedDelegate,
						escrow: "0xEC31031E3E13a87D889F0b6Dbcf000FB8c099AE9",
						vault: "0x4491B5017B969acE7C359d286403E9ca5921A201",
						attesterSet: exampleGeoOp.order.attesterSet,
					},
					openSeconds: 300,
					finalitySeconds: 1200,
					live: true,
				},
				{
					chainId: 792703809,
					name: "Solana",
					kind: "solana",
					nativeToken: "11111111111111111111111111111111",
					settlementToken: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v",
					contracts: {
						escrow: "5CPddNSuBnwDqUjPwf2yeFBoYv5prWJAL6er4fA6Au77",
						vault: "ESSsj9MDeVHg23SUt2aAdD8cMPc1Vnkwpt4jUhcNHa8j",
					},
					openSeconds: 180,
					finalitySeconds: 20,
					live: true,
				},
			],
		},
	},
};
