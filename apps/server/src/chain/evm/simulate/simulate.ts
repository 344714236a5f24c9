import { BaseError, MethodNotFoundRpcError, MethodNotSupportedRpcError } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { findSimulator, type Simulator } from "./find-simulator.ts";
import type { SimulatedCall, Simulation } from "./simulation.ts";

/** The simulators that were found, by the client of the node. */
const found = new WeakMap<EvmChain["client"], Promise<Simulator>>();

/** Returns how a chain's node simulates. Probes the node at the first call only. */
export function simulatorOf(chain: EvmChain): Promise<Simulator> {
	const known = found.get(chain.client);
	if (known) return known;
	const finding = findSimulator(chain);
	found.set(chain.client, finding);
	// After a failure the node is probed again at the next call.
	finding.catch(() => found.delete(chain.client));
	return finding;
}

/** Simulates a transaction on the chain's current state, by the best method that its node has. */
export async function simulate(chain: EvmChain, call: SimulatedCall): Promise<Simulation> {
	const simulator = await simulatorOf(chain);
	try {
		return await simulator.simulate(call);
	} catch (error) {
		if (!isMethodMissing(error)) throw error;
		// Another node, without this method, now answers for the chain.
		found.delete(chain.client);
		return (await simulatorOf(chain)).simulate(call);
	}
}

function isMethodMissing(error: unknown): boolean {
	return (
		error instanceof BaseError &&
		error.walk(
			(cause) => cause instanceof MethodNotFoundRpcError || cause instanceof MethodNotSupportedRpcError,
		) !== null
	);
}
