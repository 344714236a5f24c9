import { type Order, toWord } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AuditedChain } from "./audited-chain.ts";
import type { OrderHistory } from "./order-history.ts";
import type { Breach, Invariant } from "./report.ts";

/** Which orders are of this service: whose contracts and attesters they name. */
type Ours = { chains: readonly AuditedChain[]; earlierAttesterSets: readonly Hex[] };

/** I3, I4 and I5: an order is delivered at most once, and its input goes one way only. */
export function checkOrder(
	{ orderId, order, released, refunded, filled, voided }: OrderHistory,
	ours: Ours,
): Breach[] {
	const breaches: Breach[] = [];
	const expect = (isSo: boolean, invariant: Invariant, message: string) => {
		if (!isSo) breaches.push({ invariant, message, orderId });
	};
	expect(filled.length <= 1, "I3", `delivered ${filled.length} times`);
	expect(filled.length === 0 || voided.length === 0, "I3", "delivered and voided");
	expect(released.length + refunded.length <= 1, "I4", "its input left the escrow more than once");
	expect(refunded.length === 0 || filled.length === 0, "I5", "refunded although it was delivered");
	// Anyone may open an order with terms of their own: whether such an order is honest is not ours to say.
	if (order && isOurs(order, ours)) {
		for (const { chainId, delivered } of filled) {
			expect(BigInt(chainId) === order.destinationChainId, "I3", `delivered on chain ${chainId}`);
			expect(delivered >= order.minOutput, "I3", `delivered ${delivered}, less than ${order.minOutput}`);
		}
		expect(released.length === 0 || filled.length > 0, "I5", "released although no delivery is final");
	}
	return breaches;
}

function isOurs(order: Order, { chains, earlierAttesterSets }: Ours): boolean {
	const origin = chains.find((chain) => BigInt(chain.chainId) === order.originChainId);
	const destination = chains.find((chain) => BigInt(chain.chainId) === order.destinationChainId);
	return (
		origin !== undefined &&
		destination !== undefined &&
		[origin.deployment.attesterSet.hash, ...earlierAttesterSets].includes(order.attesterSet) &&
		origin.vaults.some((vault) => toWord(vault) === order.originVault) &&
		destination.vaults.some((vault) => toWord(vault) === order.destinationVault)
	);
}
