import { type AttestationKind, type ChainDeployment, type Order, toWord } from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import { ourContracts } from "../chain/evm/our-contracts.ts";
import type { AttesterConfig } from "./attester-config.ts";

/** Why an attester does not sign for an order, whatever the chains say of it. */
export type TermsRefusal =
	| "unknown_chain"
	| "unknown_escrow"
	| "unknown_vault"
	| "unknown_attester_set"
	| "unknown_asset"
	/** On one chain, delivery and release are one call, and no attester needs to be believed. */
	| "same_chain"
	/** No escrow opens an order with such times. */
	| "invalid_deadlines";

/** An attester signs only for contracts and assets in its own configuration. */
export function checkTerms(
	{ chains, earlierAttesterSets }: Pick<AttesterConfig, "chains" | "earlierAttesterSets">,
	{ kind, order }: { kind: AttestationKind; order: Order },
): TermsRefusal | undefined {
	const deploymentOf = (chainId: bigint) =>
		chains.find((chain) => BigInt(chain.chainId) === chainId)?.deployment;
	const origin = deploymentOf(order.originChainId);
	const destination = deploymentOf(order.destinationChainId);
	if (!origin || !destination) return "unknown_chain";
	if (order.deadlines >> 192n !== 0n) return "invalid_deadlines";
	if (kind === "Release" && origin === destination) return "same_chain";
	if (!includes(ourContracts(origin).escrows, order.escrow)) return "unknown_escrow";
	if (!includes(ourContracts(origin).vaults, order.originVault)) return "unknown_vault";
	if (!includes(ourContracts(destination).vaults, order.destinationVault)) return "unknown_vault";
	if (![origin.attesterSet.hash, ...earlierAttesterSets].includes(order.attesterSet)) {
		return "unknown_attester_set";
	}
	const hasAssets =
		includes(assetsOf(origin), order.inputToken) && includes(assetsOf(destination), order.outputToken);
	return hasAssets ? undefined : "unknown_asset";
}

function assetsOf({ assets }: ChainDeployment): Address[] {
	return assets.map((asset) => asset.address);
}

function includes(addresses: readonly Address[], word: Hex): boolean {
	return addresses.some((address) => toWord(address) === word);
}
