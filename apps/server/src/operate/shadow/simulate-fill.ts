import { type Amount, fromWord, geoVaultAbi, type Order, orderId } from "@geoswap/protocol";
import { type Address, BaseError, type Hex, numberToHex, toFunctionSelector } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { simulateBundle } from "../../chain/evm/send/simulate-bundle.ts";
import { findBalanceSlot } from "../../chain/evm/simulate/find-balance-slot.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";

/** A fill on paper, as a lane would sign it. */
export type PaperFill = {
	order: Order;
	delivery: Delivery;
	/** The minimum that a fill through the router must deliver. */
	minOutput: Amount;
	/** The vault's balance of its settlement token on paper. */
	inventory: Amount;
};

/** Whether the fill would have succeeded on its chain, or why that is unknown. */
export type FillSimulation =
	| { outcome: "succeeded"; gasUsed: bigint }
	| { outcome: "failed"; reason: string }
	| { outcome: "not simulated"; reason: string };

/** An account that sends nothing. During the simulation the vault treats it as an operator. */
const relayer: Address = "0x00000000000000000000000067656f73776170f1";
/** Code that lets every account call everything immediately: PUSH1 1, PUSH1 0, MSTORE, PUSH1 64, PUSH1 0, RETURN. */
const permitsAll: Hex = "0x600160005260406000f3";

/**
 * Returns a function that simulates a fill's transaction on its chain in the current state. The vault has the paper's
 * inventory and treats the sender as an operator. Everything else is as on the chain. The function does not throw.
 */
export function createFillSimulator(
	chains: ReadonlyMap<number, EvmChain>,
): (fill: PaperFill) => Promise<FillSimulation> {
	/** The slot of the vault's balance, or why there is none, by chain. */
	const places = new Map<number, Promise<{ slot: Hex } | { reason: string }>>();

	return async (fill) => {
		const chain = chains.get(Number(fill.order.destinationChainId));
		if (!chain) return { outcome: "not simulated", reason: "it is not an EVM chain" };
		// The fill of a swap within one chain also releases the input, which is only in the escrow after a real open.
		if (fill.order.originChainId === fill.order.destinationChainId) {
			return { outcome: "not simulated", reason: "the fill of a swap within one chain needs its open" };
		}
		try {
			const finding = places.get(chain.chainId) ?? findPlace(chain);
			places.set(chain.chainId, finding);
			finding.catch(() => places.delete(chain.chainId));
			const place = await finding;
			return "slot" in place
				? await simulate(chain, fill, place.slot)
				: { outcome: "not simulated", ...place };
		} catch (error) {
			// Not the whole message, because it contains the endpoint's URL, which may hold a key.
			const reason = error instanceof BaseError ? error.shortMessage : "the simulation ended with an error";
			return { outcome: "not simulated", reason };
		}
	};

	async function findPlace(chain: EvmChain): Promise<{ slot: Hex } | { reason: string }> {
		const { vault } = chain.deployment.contracts;
		if (!(await chain.client.getCode({ address: vault }))) return { reason: "the vault is not deployed" };
		const slot = await findBalanceSlot(chain, { token: chain.deployment.settlementToken, holder: vault });
		return slot ? { slot } : { reason: "the place of the vault's inventory in its token is not known" };
	}
}

async function simulate(
	chain: EvmChain,
	{ order, delivery, minOutput, inventory }: PaperFill,
	slot: Hex,
): Promise<FillSimulation> {
	if (delivery.kind === "payout") throw new RangeError("a payout is made on Solana");
	const [amount, fees] =
		delivery.kind === "inventory" ? [delivery.amount, []] : [delivery.budget, delivery.fees];
	const [poolFee = 0, secondPoolFee = 0] = fees;
	const id = orderId(order);
	const { settlementToken, contracts } = chain.deployment;
	const simulation = await simulateBundle(chain, {
		from: relayer,
		bundle: {
			kind: "fill",
			vault: fromWord(order.destinationVault),
			fills: [
				{ order, amount, minOutput: delivery.kind === "inventory" ? 0n : minOutput, poolFee, secondPoolFee },
			],
		},
		orders: [{ order, orderId: id }],
		codes: [{ address: contracts.accessManager, code: permitsAll }],
		slots: [{ address: settlementToken, slot, value: numberToHex(inventory, { size: 32 }) }],
	});
	if (!simulation.succeeds) return { outcome: "failed", reason: simulation.reason };
	if (simulation.done.has(id)) return { outcome: "succeeded", gasUsed: simulation.gasUsed };
	return { outcome: "failed", reason: errorName(simulation.skips.get(id)) };
}

/** Returns the name of the vault's error with this selector. */
function errorName(selector: Hex = "0x"): string {
	for (const item of geoVaultAbi) {
		if (item.type !== "error") continue;
		const types = item.inputs.map(({ type }) => type).join();
		if (toFunctionSelector(`function ${item.name}(${types})`) === selector) return item.name;
	}
	return selector === "0x" ? "it did nothing" : selector;
}
