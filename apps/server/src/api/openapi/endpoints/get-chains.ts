import { chainsResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleGeoOp, exampleIntent, exampleTypedDelegate } from "./example-swap.ts";

export const getChainsDoc: RouteDoc = {
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
