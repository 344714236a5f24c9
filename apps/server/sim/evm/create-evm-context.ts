import type { Address, Hex } from "viem";
import {
	type ContractKind,
	type EvmCall,
	type EvmContext,
	type EvmContract,
	lower,
	moveNative,
	Revert,
} from "./evm-call.ts";
import { type StateOverlay, stateKey } from "./state-overlay.ts";

export type ContractPlace = { kind: ContractKind; run: EvmContract };

/** A contract without a receive function, also used for all unknown code. */
export const refusesAll: EvmContract = () => {
	throw new Revert();
};

const delegationPrefix = "0xef0100";

export function createEvmContext({
	contracts,
	...world
}: {
	/** Contracts by address in lower case. */
	contracts: ReadonlyMap<string, ContractPlace>;
	chainId: number;
	blockNumber: bigint;
	timestamp: bigint;
	origin: Address;
	state: StateOverlay;
}): EvmContext {
	const { state } = world;

	/** Returns the code that answers at this address: a contract or a wallet's delegate; undefined if there is none. */
	const codeAt = (address: string): EvmContract | undefined => {
		const place = contracts.get(address);
		if (place) return place.run;
		const code = state.text(stateKey.code(address));
		if (code === "" || code === "0x") return undefined;
		if (!code.startsWith(delegationPrefix)) return refusesAll;
		// A delegate that is not a contract has no code: every call succeeds.
		return contracts.get(lower(`0x${code.slice(delegationPrefix.length)}`))?.run;
	};

	const context: EvmContext = {
		...world,
		logs: [],
		gas: { used: 0n },
		kindOf: (address) => contracts.get(address)?.kind,
		call: (call: EvmCall): Hex => {
			const mark = state.mark();
			const logs = context.logs.length;
			try {
				moveNative(context, { from: call.from, to: call.to, amount: call.value });
				return codeAt(call.to)?.(context, call) ?? "0x";
			} catch (error) {
				state.undoTo(mark);
				context.logs.length = logs;
				throw error;
			}
		},
	};
	return context;
}
