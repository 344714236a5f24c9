import {
	type AttestationKind,
	type ChainDeployment,
	isSolana,
	type Milliseconds,
	type Order,
	ourContracts,
	type SolanaDeployment,
	toSolanaWord,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AttesterConfig } from "./attester-config.ts";

/** Reasons not to sign for an order, regardless of its state on the chains. */
export type TermsRefusal =
	| "unknown_chain"
	| "unknown_escrow"
	| "unknown_vault"
	| "unknown_attester_set"
	| "unknown_asset"
	/**
	 * On one chain delivery and release are one call, and on Solana the vault's operator refunds, so no attester decides.
	 */
	| "same_chain"
	/** No escrow opens an order with such times, or none opens it yet. */
	| "invalid_deadlines";

/** The escrow's `MAX_REFUND_DELAY`: how far ahead `refundAfter` may be when an order is opened. */
const maxRefundDelaySeconds = 3 * 24 * 3_600;

/** The words of orders that an attester knows on a chain. */
type Known = { escrows: Hex[]; vaults: Hex[]; assets: Hex[]; attesterSet: Hex };

/**
 * Returns a refusal for contracts and assets that are not in the attester's own configuration, and for refunds of
 * orders from the future.
 */
export function checkTerms(
	{ chains, solana, earlierAttesterSets }: Pick<AttesterConfig, "chains" | "solana" | "earlierAttesterSets">,
	{ kind, order, nowMs }: { kind: AttestationKind; order: Order; nowMs: Milliseconds },
): TermsRefusal | undefined {
	const onSolana = solana?.deployment;
	const knownOf = (chainId: bigint): Known | undefined => {
		if (isSolana(chainId)) return onSolana && knownOnSolana(onSolana);
		const deployment = chains.find((chain) => BigInt(chain.chainId) === chainId)?.deployment;
		return deployment && knownOn(deployment);
	};
	const [origin, destination] = [knownOf(order.originChainId), knownOf(order.destinationChainId)];
	if (!origin || !destination) return "unknown_chain";
	if (order.deadlines >> 192n !== 0n) return "invalid_deadlines";
	// No escrow opens an order whose `refundAfter` is later than this, so there is nothing to refund yet.
	const latest = BigInt(Math.floor(nowMs / 1_000) + maxRefundDelaySeconds);
	if (kind === "Refund" && unpackDeadlines(order.deadlines).refundAfter > latest) return "invalid_deadlines";
	const isOnOneChain = order.originChainId === order.destinationChainId;
	if (isOnOneChain && (kind === "Release" || isSolana(order.originChainId))) return "same_chain";
	if (!origin.escrows.includes(order.escrow)) return "unknown_escrow";
	if (!origin.vaults.includes(order.originVault)) return "unknown_vault";
	if (!destination.vaults.includes(order.destinationVault)) return "unknown_vault";
	if (![origin.attesterSet, ...earlierAttesterSets].includes(order.attesterSet)) {
		return "unknown_attester_set";
	}
	const hasAssets =
		origin.assets.includes(order.inputToken) && destination.assets.includes(order.outputToken);
	return hasAssets ? undefined : "unknown_asset";
}

function knownOn(deployment: ChainDeployment): Known {
	const { escrows, vaults } = ourContracts(deployment);
	return {
		escrows: escrows.map(toWord),
		vaults: vaults.map(toWord),
		assets: deployment.assets.map((asset) => toWord(asset.address)),
		attesterSet: deployment.attesterSet.hash,
	};
}

function knownOnSolana({ program, assets }: SolanaDeployment): Known {
	return {
		escrows: [toSolanaWord(program.address)],
		vaults: [toSolanaWord(program.vault)],
		assets: assets.map((asset) => toSolanaWord(asset.address)),
		attesterSet: program.attesterSet.hash,
	};
}
