import {
	type Bundle,
	encodeBundle,
	fromWord,
	geoEscrowAbi,
	geoVaultAbi,
	type Order,
} from "@geoswap/protocol";
import {
	type Address,
	decodeErrorResult,
	encodeFunctionData,
	type Hex,
	type Log,
	type SignedAuthorization,
	size,
	slice,
} from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { decodeEvents } from "../read/decode-events.ts";
import { simulate } from "../simulate/simulate.ts";
import type { SimulatedCall, StateChange, WatchedOrder } from "../simulate/simulation.ts";

/** The maximum gas of one transaction. */
export const maxTransactionGas = 2n ** 24n;

export type BundleSimulation =
	| {
			succeeds: true;
			gasUsed: bigint;
			/** The orders whose item of the bundle would succeed. */
			done: ReadonlySet<Hex>;
			/** The selectors of the errors for which a vault would skip fills. */
			skips: ReadonlyMap<Hex, Hex>;
	  }
	| { succeeds: false; reason: string };

/** An order of a bundle. */
type BundledOrder = { order: Order; orderId: Hex };

/** For each kind of bundle, the event and the state of an order that show that its item succeeded. */
const doneBy: Record<Bundle["kind"], { event: string; state: number }> = {
	open: { event: "Opened", state: 1 },
	release: { event: "Released", state: 2 },
	refund: { event: "Refunded", state: 3 },
	"late-refund": { event: "Refunded", state: 3 },
	fill: { event: "Filled", state: 1 },
	void: { event: "Voided", state: 2 },
};

/**
 * Simulates a transaction on the chain's current state. Its success does not mean success for an order, because the
 * transaction succeeds even if an item of a batch fails.
 */
export async function simulateBundle(
	chain: EvmChain,
	{
		from,
		bundle,
		orders,
		authorizationList,
		...overrides
	}: {
		from: Address;
		bundle: Bundle;
		/** The orders that the bundle is sent for. It may name others. */
		orders: readonly BundledOrder[];
		authorizationList?: SignedAuthorization[] | undefined;
	} & Pick<SimulatedCall, "codes" | "slots">,
): Promise<BundleSimulation> {
	const simulation = await simulate(chain, {
		...overrides,
		...encodeBundle(bundle),
		from,
		gas: maxTransactionGas,
		authorizationList,
		orders: orders.map(({ order, orderId }, i) => watched(bundle, { order, orderId, i })),
	});
	if (!simulation.succeeds) return { succeeds: false, reason: refusal(simulation.data) };
	const outcomes =
		"logs" in simulation
			? loggedOutcomes(chain, bundle, simulation.logs)
			: changedOutcomes(bundle, orders, simulation.changes);
	return { succeeds: true, gasUsed: simulation.gasUsed, ...outcomes };
}

function watched(
	bundle: Bundle,
	{ order, orderId, i }: { order: Order; orderId: Hex; i: number },
): WatchedOrder {
	if (bundle.kind === "void") return { contract: bundle.vault, orderId };
	if (bundle.kind !== "fill") return { contract: fromWord(order.escrow), orderId };
	const [contract, fill] = [bundle.vault, bundle.fills[i]];
	if (!fill) return { contract, orderId };
	const data = encodeFunctionData({ abi: geoVaultAbi, functionName: "fillOne", args: [fill] });
	return { contract, orderId, part: { to: contract, data, gas: maxTransactionGas } };
}

type Outcomes = Pick<Extract<BundleSimulation, { succeeds: true }>, "done" | "skips">;

function loggedOutcomes({ deployment }: EvmChain, { kind }: Bundle, logs: Log[]): Outcomes {
	const done = new Set<Hex>();
	const skips = new Map<Hex, Hex>();
	for (const event of decodeEvents(deployment, logs as Log<bigint, number, false>[])) {
		if (!event.orderId) continue;
		if (event.name === doneBy[kind].event) done.add(event.orderId);
		if (kind === "fill" && event.name === "Skipped" && event.data.reason)
			skips.set(event.orderId, event.data.reason);
	}
	return { done, skips };
}

function changedOutcomes(
	{ kind }: Bundle,
	orders: readonly BundledOrder[],
	changes: readonly StateChange[],
): Outcomes {
	const done = new Set<Hex>();
	const skips = new Map<Hex, Hex>();
	for (const [i, { orderId }] of orders.entries()) {
		const change = changes[i];
		if (!change) continue;
		const { before, after, revertData } = change;
		if (before !== after && after === doneBy[kind].state) done.add(orderId);
		else if (revertData !== undefined) skips.set(orderId, selectorOf(revertData));
	}
	return { done, skips };
}

/** Returns an error's selector as the vault puts it into its event. */
function selectorOf(revertData: Hex): Hex {
	return size(revertData) < 4 ? "0x00000000" : slice(revertData, 0, 4);
}

const errorAbi = [...geoVaultAbi, ...geoEscrowAbi];

function refusal(data: Hex): string {
	try {
		return decodeErrorResult({ abi: errorAbi, data }).errorName;
	} catch {
		return data === "0x" ? "reverted without a reason" : data.slice(0, 10);
	}
}
